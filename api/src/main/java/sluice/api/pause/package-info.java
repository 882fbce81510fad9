/// Pauses and resumes of tenants, followed to their end: by the command line for regions that it can write, else by the agent.
///
/// Must not know: who may pause a tenant, how progress is shown, or by which way a request came.
package sluice.api.pause;
