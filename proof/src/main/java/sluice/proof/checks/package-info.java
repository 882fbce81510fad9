/// Checks of promises on this machine: each check starts tenants, compares the reports of probes with the promise, and gives a result.
///
/// Must not know: the command line, or the probe's own code beyond the words of its commands.
package sluice.proof.checks;
