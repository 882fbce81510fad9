/// The commands about recorded calls: `trace`, `trace convert`, `report`.
///
/// Must not know: the format of a trace, or how a report is made; `sluice.trace` does.
package sluice.cli.trace;
