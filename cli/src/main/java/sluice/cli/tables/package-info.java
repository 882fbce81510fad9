/// Tenants, limits, counters and findings of an audit as text for people.
///
/// Must not know: where the values come from, or which command shows them.
package sluice.cli.tables;
