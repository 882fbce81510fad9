package sluice.cli.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Turns this process into another program: same pid, same parent, same files, same signal mask as it was started with.
public final class Exec {
    /// The program is there, and what it needs to start is not.
    public static final int NO_INTERPRETER = -1;
    public static final int ENOENT = 2;
    public static final int E2BIG = 7;
    public static final int EACCES = 13;
    private static final int ENOEXEC = 8;
    public static final String SHELL = "/bin/sh";

    private static final long RT_SIGPROCMASK = 14;
    private static final long EXECVE = 59;
    private static final long FCNTL = 72;

    private static final long SIG_SETMASK = 2;
    private static final int SIGNAL_SET_BYTES = 8;
    private static final long F_SETFD = 2;
    private static final long FD_CLOEXEC = 1;

    private final SystemCalls system;
    private final long environment;

    public Exec(SystemCalls system, List<byte[]> environment) {
        this.system = system;
        this.environment = system.strings(environment);
    }

    /// Gives the program only what the caller of Sluice gave to Sluice: the signal mask, and no file of the Java runtime.
    /// Other open files stay open, as in any command that runs a command.
    public void restore(long blockedSignals) {
        ByteBuffer mask = system.memory(SIGNAL_SET_BYTES).putLong(0, blockedSignals);
        system.call(RT_SIGPROCMASK, SIG_SETMASK, SystemCalls.address(mask), 0, SIGNAL_SET_BYTES);
        Path runtime = Path.of(System.getProperty("java.home"));
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                if (isUnder(runtime, descriptor)) {
                    system.call(FCNTL, Long.parseLong(descriptor.getFileName().toString()), F_SETFD, FD_CLOEXEC, 0);
                }
            }
        } catch (IOException e) {
            // Then the program inherits an open file that it does not know of.
        }
    }

    private static boolean isUnder(Path runtime, Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(runtime);
        } catch (IOException e) {
            return false;
        }
    }

    /// Starts the program at a path. It returns only with the number of an error.
    public int execute(byte[] path, List<byte[]> arguments) {
        if (!system.mayExecute(path)) {
            return system.isThere(path) ? EACCES : ENOENT;
        }
        long file = system.string(path);
        system.call(EXECVE, file, system.strings(arguments), environment, 0);
        int error = system.error(EXECVE, file, system.strings(arguments), environment);
        if (error != ENOEXEC) {
            return error == ENOENT ? NO_INTERPRETER : error;
        }
        List<byte[]> script = new ArrayList<>(arguments);
        script.set(0, path);
        script.addFirst(SHELL.getBytes(StandardCharsets.UTF_8));
        return system.error(EXECVE, system.string(script.getFirst()), system.strings(script), environment);
    }
}
