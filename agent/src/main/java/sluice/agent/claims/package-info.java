/// The parts of this machine's GPUs that a cluster gave away, as its node program declares them. They survive a restart of the agent.
///
/// Must not know: regions, processes, HTTP, or which cluster it is.
package sluice.agent.claims;
