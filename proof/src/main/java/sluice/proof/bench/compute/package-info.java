/// `sluice bench compute`: tenants that compete for GPU time, the witnesses of their work, and the tables made from them.
///
/// Checks of GPU time use its runs. Must not know: any check.
package sluice.proof.bench.compute;
