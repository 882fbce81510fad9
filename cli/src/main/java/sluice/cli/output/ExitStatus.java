package sluice.cli.output;

/// The exit statuses of the command. `sluice run` otherwise ends with the program's own.
public final class ExitStatus {
    public static final int OK = 0;
    /// A check failed.
    public static final int CHECK_FAILED = 1;
    /// Ctrl-C ended it: 128 plus the number of the signal, as for any program.
    public static final int INTERRUPTED = 130;
    /// It was not done within the given time, as for timeout(1).
    public static final int TIMED_OUT = 124;
    /// The command line was invalid.
    public static final int USAGE = 2;
    /// Sluice failed before the program started.
    public static final int SLUICE_FAILED = 125;
    /// The program exists but cannot be started.
    public static final int NOT_EXECUTABLE = 126;
    /// The program does not exist.
    public static final int NOT_FOUND = 127;

    private ExitStatus() {}
}
