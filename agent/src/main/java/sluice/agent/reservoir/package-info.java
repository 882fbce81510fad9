/// The machine's reservoir: host memory of the agent, in which jobs keep device memory while they are released. Each process has a file of its own,
/// which no other process ever gets.
///
/// Must not know: how processes ask for it, and what they keep in it.
package sluice.agent.reservoir;
