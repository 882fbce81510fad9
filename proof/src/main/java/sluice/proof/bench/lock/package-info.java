/// `sluice bench lock`: culocker's experiment, a short task beside a long one under windows of different lengths.
///
/// It uses the workers and witnesses of `compute`. Must not know: any check.
package sluice.proof.bench.lock;
