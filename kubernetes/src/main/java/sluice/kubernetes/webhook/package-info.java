/// The webhook that translates pods which were written for HAMi or Alnair: their resources become claims.
///
/// Must not know: nodes, kubelet or the agent.
package sluice.kubernetes.webhook;
