/// The numbers of a report, from one pass over a trace, in memory that does not grow with the trace.
///
/// Must not know: how a report is shown ([sluice.trace.report.output]), or the formats of viewers.
package sluice.trace.report;
