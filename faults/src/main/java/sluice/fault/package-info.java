/// The suite of faults: tests in any module that are marked with [sluice.fault.Fault]. [sluice.fault.FaultListener] notes how each of them
/// ends in one file for the whole build, and [sluice.fault.FaultTable] reads it at the end.
package sluice.fault;
