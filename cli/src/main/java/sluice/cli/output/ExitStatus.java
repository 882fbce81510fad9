package sluice.cli.output;

/// What the exit statuses of the command mean. `sluice run` otherwise ends with the program's own.
public final class ExitStatus {
    public static final int OK = 0;
    /// A check failed.
    public static final int CHECK_FAILED = 1;
    /// Ctrl-C broke it off: 128 and the number of the signal, as of any program.
    public static final int INTERRUPTED = 130;
    /// It was not done within the time that was given, as of timeout(1).
    public static final int TIMED_OUT = 124;
    /// The command line made no sense.
    public static final int USAGE = 2;
    /// Sluice failed before the program started.
    public static final int SLUICE_FAILED = 125;
    /// The program is there but cannot be started.
    public static final int NOT_EXECUTABLE = 126;
    /// The program is not there.
    public static final int NOT_FOUND = 127;

    private ExitStatus() {}
}
