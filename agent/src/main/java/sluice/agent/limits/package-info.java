/// Limits in words, as a body of JSON, and the change of limits while the tenant runs.
///
/// Must not know: who may change them, or by which way the request came.
package sluice.agent.limits;
