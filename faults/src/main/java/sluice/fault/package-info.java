/// The suite of faults: tests in any module that are marked with [sluice.fault.Fault]. [sluice.fault.FaultListener] writes the result of each
/// to one file for the whole build. [sluice.fault.FaultTable] reads that file at the end. Must not know: any test, or what it attacks.
package sluice.fault;
