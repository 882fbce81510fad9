/// The cluster's API server, as far as a node needs it: few requests, JSON, no model of objects.
///
/// Must not know: GPUs or claims.
package sluice.kubernetes.cluster;
