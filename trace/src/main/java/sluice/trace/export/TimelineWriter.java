package sluice.trace.export;

import java.io.Closeable;
import java.io.IOException;

/// Writes a timeline in some format. On one track slices nest: what begins within another ends within it.
interface TimelineWriter extends Closeable {
    /// Category of waits that Sluice caused. Viewers draw them in another colour.
    String WAIT = "wait";

    /// Comes before anything on the track.
    void declare(Track track) throws IOException;

    void begin(Track track, long nanos, String category, String name, Details details) throws IOException;

    void end(Track track, long nanos) throws IOException;

    void mark(Track track, long nanos, String category, String name, Details details) throws IOException;

    /// The number of a track of bytes, from now on.
    void bytes(Track track, long nanos, long bytes) throws IOException;
}
