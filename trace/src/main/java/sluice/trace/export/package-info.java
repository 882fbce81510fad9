/// Traces for viewers: events on tracks, written as Perfetto's format or as Chrome's JSON.
///
/// Must not know: the report.
package sluice.trace.export;
