/// The node program as a device plugin, for clusters whose scheduler only counts: units of memory and of GPU time, in Sluice's names and in
/// Alnair's.
///
/// Kubelet asks for memory and for GPU time apart and never says for which container. It says so only when the container is about to start
/// (`PreStartContainer`), and there the claim is declared to the agent with all its limits.
///
/// Must not know: claims of dynamic resource allocation, or the webhook.
package sluice.kubernetes.plugin;
