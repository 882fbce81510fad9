/// `sluice bench`: what calls and starts cost with and without the library; spreads, targets, verdicts, and the report.
///
/// Must not know: shares of GPU time, or any check.
package sluice.proof.bench;
