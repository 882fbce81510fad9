/// `sluice demo`: jobs with and without limits, side by side.
///
/// Must not know: checks or benches.
package sluice.proof.demo;
