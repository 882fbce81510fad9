/// The terminal of `sluice top`: keys, size, colours, and giving it back as it was.
///
/// Only this package opens a JLine terminal. Must not know: tenants, or what a key leads to.
package sluice.cli.top.terminal;
