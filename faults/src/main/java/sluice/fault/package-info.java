/// The suite of faults: tests in any module that are marked with [sluice.fault.Fault]. [sluice.fault.FaultListener] writes how each of them
/// ended to one file for the whole build. [sluice.fault.FaultTable] reads that file at the end.
package sluice.fault;
