/// The recorder: empties the rings of a job that runs into a folder, for a time.
///
/// Must not know: the meaning of events. It copies them; [sluice.trace.read] decodes them.
package sluice.trace.record;
