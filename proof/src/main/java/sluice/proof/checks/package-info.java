/// What holds on this machine: each check stages tenants, compares what probes report with the promise, and gives a result.
///
/// Must not know: the command line, or the probe's own code beyond the words of its commands.
package sluice.proof.checks;
