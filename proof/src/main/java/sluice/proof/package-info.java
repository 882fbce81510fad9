/// `sluice verify`: the list of all checks, and the page that is made from it (docs/memory.md).
///
/// Must not know: how a check works. No other package may know this one.
package sluice.proof;
