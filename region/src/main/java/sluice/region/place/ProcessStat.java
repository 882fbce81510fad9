package sluice.region.place;

import java.io.IOException;
import sluice.linux.ProcFile;

/// The contents of `/proc/PID/stat` for a process that runs.
///
/// @param image a word that `execve` changes as a rule: a part of where the stack of the program begins; 0 when it is not shown to us
record ProcessStat(long pid, long startTicks, int image) {
    private static final int STATE_FIELD = 3;
    private static final int THREADS_FIELD = 20;
    private static final int START_TIME_FIELD = 22;
    private static final int STACK_FIELD = 28;
    /// The lowest bits of an address on the stack are always 0.
    private static final int STACK_SHIFT = 4;

    /// The process, or null when it has ended. `process` is a pid or `self`.
    static ProcessStat read(String process) {
        try {
            return parse(ProcFile.read(process, "stat"));
        } catch (IOException e) {
            return null;
        }
    }

    /// The command in the second field may itself hold spaces and parentheses, so the fields are counted from the last
    /// `)`. State Z alone does not say that a process has ended: the first thread of a program may end before the others.
    static ProcessStat parse(byte[] stat) {
        int command = stat.length - 1;
        while (command >= 0 && stat[command] != ')') {
            command--;
        }
        int state = field(stat, command, STATE_FIELD);
        int startTime = field(stat, command, START_TIME_FIELD);
        if (command < 0 || startTime == stat.length) {
            return null;
        }
        boolean ended = (stat[state] == 'Z' || stat[state] == 'X') && number(stat, field(stat, command, THREADS_FIELD)) <= 1;
        return ended ? null : new ProcessStat(number(stat, 0), number(stat, startTime), (int) (number(stat, field(stat, command, STACK_FIELD)) >>> STACK_SHIFT));
    }

    /// Where a field begins; the length of the line when it is not there.
    private static int field(byte[] stat, int command, int number) {
        int field = STATE_FIELD - 1;
        for (int at = command + 1; at < stat.length; at++) {
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
}
