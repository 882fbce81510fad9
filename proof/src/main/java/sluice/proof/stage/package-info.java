/// The place where probes meet: tenants, their settings, the driver, the processes, and cleaning up after them.
///
/// Must not know: the checks and measurements that use it.
package sluice.proof.stage;
