/// The report for readers: one HTML page, text for a terminal, and JSON for programs.
///
/// Another user may have chosen the names in a trace, so every text is escaped. Must not know: events; it has only the numbers of
/// [sluice.trace.report.ReportData].
package sluice.trace.report.output;
