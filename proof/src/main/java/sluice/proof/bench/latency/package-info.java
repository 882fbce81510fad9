/// `sluice bench latency`: bursts of high priority beside other tenants, with and without Sluice, and the speed that the others keep.
///
/// Its runs are those of `bench.compute`. Must not know: any check.
package sluice.proof.bench.latency;
