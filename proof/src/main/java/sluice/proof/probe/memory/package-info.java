/// The probe's objects on the GPU (`Session`), and the commands that take memory and give it back.
///
/// Must not know: other commands of the probe, or which check judges the answers.
package sluice.proof.probe.memory;
