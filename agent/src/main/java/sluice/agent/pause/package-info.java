/// Pauses and resumes that the agent was asked for: it begins them, follows them to their end, and tells how they stand.
///
/// Must not know: how a process of a tenant carries a command out, or who else writes commands.
package sluice.agent.pause;
