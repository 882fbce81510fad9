/// The place where probes meet: tenants, their settings, the driver, the processes, and cleaning up after them.
///
/// Must not know: what is checked or measured there.
package sluice.proof.stage;
