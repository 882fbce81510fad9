/// Limits of a job in words: what a policy gives, and what `sluice run` asks for.
///
/// Must not know: which process asked, or how the request came.
package sluice.agent.limits;
