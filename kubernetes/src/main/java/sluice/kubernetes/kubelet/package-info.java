/// The two Unix sockets on which kubelet finds and asks this program.
///
/// Must not know: what a claim becomes, the cluster's API, or the node's agent.
package sluice.kubernetes.kubelet;
