package sluice.trace.export;

/// One line of a timeline.
///
/// @param number 1, 2, 3, … in the order in which tracks were made
/// @param parent the track under which it is shown, or null
/// @param pid    its process; 0 when it belongs to none
/// @param tid    its thread, of a track of kind THREAD
record Track(int number, Track parent, Kind kind, int pid, int tid, String name) {
    enum Kind {
        /// Has nothing on it but tracks under it.
        GROUP,
        PROCESS,
        THREAD,
        SLICES,
        /// A number of bytes that changes.
        BYTES
    }
}
