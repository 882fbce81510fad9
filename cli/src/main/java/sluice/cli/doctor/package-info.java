/// `sluice doctor`: checks what Sluice needs on this machine, with one finding for each check.
///
/// A check changes nothing. Must not know: tenants or limits.
package sluice.cli.doctor;
