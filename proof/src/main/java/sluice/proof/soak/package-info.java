/// `sluice soak`: a tenant that takes and frees memory for hours while its ledger is compared with the driver.
///
/// Must not know: checks or benches. The work itself is done by the probe.
package sluice.proof.soak;
