/// What the node program tells the cluster of its own accord: how claims are, and what cannot be enforced.
///
/// Must not know: gRPC.
package sluice.kubernetes.reports;
