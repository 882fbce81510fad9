/// The machine at one moment: GPUs, tenants, findings of the audit and events; and the routes that serve them.
///
/// Must not know: the parts of the agent, plans, or the history. Listeners get each look.
package sluice.agent.machine;
