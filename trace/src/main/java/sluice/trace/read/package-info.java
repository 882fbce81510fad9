/// A recorded trace, read: rings, names and processes in a folder, and their events in the order of their ends.
///
/// Memory is bounded for a trace of any length. Must not know: how it was recorded, or how it is shown.
package sluice.trace.read;
