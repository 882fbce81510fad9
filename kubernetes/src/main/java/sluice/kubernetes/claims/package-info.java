/// A claim, from what the scheduler allocated to what a container gets: checked, written down, declared to the agent, described for the runtime.
///
/// Must not know: gRPC.
package sluice.kubernetes.claims;
