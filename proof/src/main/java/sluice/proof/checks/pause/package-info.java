/// Checks of pause, release and resume: what a paused tenant does, and where its memory is.
///
/// Must not know: the other groups of checks.
package sluice.proof.checks.pause;
