/// The commands of the machine's agent: `agent`, `audit`, `monitor`.
///
/// Must not know: how the agent looks, plans or answers. The agent is found as a service, by `sluice.api.program`.
package sluice.cli.agent;
