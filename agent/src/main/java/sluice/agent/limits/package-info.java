/// Limits of a tenant in words and as JSON, and the change of limits while the tenant runs.
///
/// Must not know: who may change them, or by which way the request came.
package sluice.agent.limits;
