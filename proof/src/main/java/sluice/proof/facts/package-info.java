/// What a probe and its judge tell each other: facts, stamps of kernels, loads; and what is expected of them.
///
/// Must not know: processes, tenants, CUDA, or any check.
package sluice.proof.facts;
