package sluice.region;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// A process, named for ever: its start time in clock ticks << 22 | its pid. A pid alone names a process only until
/// the number is given out again. `exec` changes neither half.
public record Identity(long word) {
    private static final int PID_BITS = 22;
    private static final long PID_MASK = (1L << PID_BITS) - 1;
    private static final int STATE_FIELD = 3;
    private static final int THREADS_FIELD = 20;
    private static final int START_TIME_FIELD = 22;

    /// The process that has this pid now, if there is one.
    public static Optional<Identity> of(long pid) {
        return Optional.ofNullable(read(Path.of("/proc", Long.toString(pid), "stat")));
    }

    public static Identity self() {
        Identity self = read(Path.of("/proc/self/stat"));
        if (self == null) {
            throw new SluiceException("cannot read /proc/self/stat; mount /proc");
        }
        return self;
    }

    public long pid() {
        return word & PID_MASK;
    }

    public long startTicks() {
        return (word & Long.MAX_VALUE) >>> PID_BITS;
    }

    /// Whether this very process still runs.
    public boolean isAlive() {
        return equals(read(Path.of("/proc", Long.toString(pid()), "stat")));
    }

    private static Identity read(Path stat) {
        try {
            return parse(Files.readAllBytes(stat));
        } catch (IOException e) {
            return null;
        }
    }

    /// Reads a line of `/proc/PID/stat`. The command in its second field may itself hold spaces and parentheses, so
    /// the fields are counted from the last `)`. Gives null for a process that has ended, or for nonsense.
    ///
    /// State Z alone does not say that a process has ended: the first thread of a program may end before the others.
    static Identity parse(byte[] stat) {
        int command = stat.length - 1;
        while (command >= 0 && stat[command] != ')') {
            command--;
        }
        int state = field(stat, command, STATE_FIELD);
        int threads = field(stat, command, THREADS_FIELD);
        int startTime = field(stat, command, START_TIME_FIELD);
        if (command < 0 || startTime == stat.length) {
            return null;
        }
        boolean ended = (stat[state] == 'Z' || stat[state] == 'X') && number(stat, threads) <= 1;
        return ended ? null : new Identity(number(stat, startTime) << PID_BITS | number(stat, 0));
    }

    /// Where a field begins; the length of the line when it is not there.
    private static int field(byte[] stat, int command, int number) {
        int at = command + 1;
        for (int field = STATE_FIELD - 1; at < stat.length; at++) {
            if (stat[at] == ' ' && ++field == number) {
                return at + 1;
            }
        }
        return stat.length;
    }

    private static long number(byte[] stat, int from) {
        long value = 0;
        for (int at = from; at < stat.length && stat[at] >= '0' && stat[at] <= '9'; at++) {
            value = value * 10 + stat[at] - '0';
        }
        return value;
    }

    /// The command line of the process with this pid, for people; empty when it has ended or is another user's.
    static String commandLine(long pid) {
        try {
            byte[] line = Files.readAllBytes(Path.of("/proc", Long.toString(pid), "cmdline"));
            return new String(line, StandardCharsets.UTF_8).replace('\0', ' ').strip();
        } catch (IOException e) {
            return "";
        }
    }
}
