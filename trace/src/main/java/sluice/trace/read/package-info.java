/// A recorded trace, read: rings, names and processes in a folder, and their events in the order of their ends.
///
/// Memory is bounded, however long the trace. Must not know: who recorded it, or what is made of it.
package sluice.trace.read;
