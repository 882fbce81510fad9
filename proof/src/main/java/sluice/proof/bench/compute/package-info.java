/// `sluice bench compute`: tenants that compete for GPU time, what witnesses saw of them, and the tables made from it.
///
/// Checks of GPU time use its runs. Must not know: any check.
package sluice.proof.bench.compute;
