/// Limits of a job in words: those that a policy gives, and those that `sluice run` asks for.
///
/// Must not know: which process asked, or how the request came.
package sluice.agent.limits;
