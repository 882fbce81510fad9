package sluice.trace.read;

import java.util.Locale;

/// Something in the files of a trace that cannot be true. What can be read is read all the same.
///
/// @param file name of the file
/// @param what what is wrong with it
/// @param lost events that are missing for it; [#UNKNOWN] when the file does not tell
public record TraceDamage(String file, String what, long lost) {
    public static final long UNKNOWN = -1;

    /// One line for people.
    public String text() {
        String missing = lost == UNKNOWN ? "; how many events are missing is not known"
                : lost == 0 ? "" : String.format(Locale.ROOT, "; %,d event%s missing", lost, lost == 1 ? " is" : "s are");
        return file + " " + what + missing;
    }
}
