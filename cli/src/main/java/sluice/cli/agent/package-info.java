/// The commands of the machine's agent: `agent`, `audit`, `monitor`.
///
/// Must not know: how the agent looks, plans or answers; `sluice.agent` does.
package sluice.cli.agent;
