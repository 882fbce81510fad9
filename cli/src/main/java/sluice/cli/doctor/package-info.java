/// `sluice doctor`: what Sluice needs on this machine, one finding for each.
///
/// A look changes nothing. Must not know: tenants or limits.
package sluice.cli.doctor;
