/// The audit: compares the processes on the GPUs with the ledgers, reports findings, and stops processes if asked to.
///
/// Findings themselves are in `machine`, because every look includes them. Must not know: registration, metrics, plans.
package sluice.agent.audit;
