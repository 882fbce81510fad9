/// The recorder: empties the rings of a job that runs into a folder, for a time.
///
/// Must not know: what events mean. It copies them; [sluice.trace.read] makes events of them.
package sluice.trace.record;
