/// The node program of a Kubernetes cluster, as a process: its settings, and its parts put together.
///
/// Must not know: what kubelet says, or what a claim becomes.
package sluice.kubernetes;
