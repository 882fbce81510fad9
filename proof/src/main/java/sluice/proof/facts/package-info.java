/// The data between a probe and its check: facts, stamps of kernels, loads; and assertions on them.
///
/// Must not know: processes, tenants, CUDA, or any check.
package sluice.proof.facts;
