/// Limits of a job in words: what a policy gives, and what `sluice run` asks for.
///
/// Must not know: who asked, or by which way the request came.
package sluice.agent.limits;
