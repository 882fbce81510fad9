/// The report for readers: one HTML page, text for a terminal, and JSON for programs.
///
/// Names in a trace are a stranger's, so every text is escaped. Must not know: events; it sees only the numbers of
/// [sluice.trace.report.ReportData].
package sluice.trace.report.output;
