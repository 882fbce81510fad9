package sluice.trace.read;

import java.util.Locale;

/// Damage in the files of a trace. The reader still reads the rest.
///
/// @param file name of the file
/// @param what the damage, for people
/// @param lost how many events are missing because of it; [#UNKNOWN]: the file does not say
public record TraceDamage(String file, String what, long lost) {
    public static final long UNKNOWN = -1;

    /// One line for people.
    public String text() {
        String missing = lost == UNKNOWN ? "; how many events are missing is not known"
                : lost == 0 ? "" : String.format(Locale.ROOT, "; %,d event%s missing", lost, lost == 1 ? " is" : "s are");
        return file + " " + what + missing;
    }
}
