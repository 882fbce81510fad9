/// `sluice bench`: the cost of calls and starts with and without the library; spreads, targets, verdicts, and the report.
///
/// Must not know: shares of GPU time, or any check.
package sluice.proof.bench;
