/// The interface of the agent's parts, the objects that they may use, and the clock that repeats their work.
///
/// Must not know: any one part.
package sluice.agent.part;
