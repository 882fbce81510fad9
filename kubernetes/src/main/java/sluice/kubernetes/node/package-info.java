/// This machine: its agent, and what the kernel tells about its GPUs.
///
/// Must not know: Kubernetes.
package sluice.kubernetes.node;
