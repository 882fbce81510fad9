/// Limits of a job in words: what a policy gives, what `sluice run` asks for, and what holds of both.
///
/// Must not know: who asked, or by which way the request came.
package sluice.agent.limits;
