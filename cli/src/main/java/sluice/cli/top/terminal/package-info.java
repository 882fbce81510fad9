/// The terminal of `sluice top`: keys, size, colours, and its restoration.
///
/// Only this package opens a JLine terminal. Must not know: tenants, or the effect of a key.
package sluice.cli.top.terminal;
