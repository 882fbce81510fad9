/// The agent's metrics on the pod network, read-only: over TLS, for readers that the cluster lets read them.
///
/// Must not know: gRPC, claims, or kubelet.
package sluice.kubernetes.metrics;
