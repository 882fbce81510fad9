/// `sluice verify`: the list of all checks, and the page that is made from it (docs/memory.md).
///
/// Knows the checks and nothing of how they work. No other package may know it.
package sluice.proof;
