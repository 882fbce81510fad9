/// What a part of the agent is, what it may use, and the clock that repeats its work.
///
/// Must not know: any one part.
package sluice.agent.part;
