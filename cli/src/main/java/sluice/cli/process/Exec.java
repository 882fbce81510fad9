package sluice.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sluice.linux.Errno;
import sluice.linux.ProgramCalls;

/// Turns this process into another program: same pid, same parent, same files, same signal mask as it was started with.
public final class Exec {
    /// The program exists, but a file that it needs to start does not.
    public static final int NO_INTERPRETER = -1;
    public static final String SHELL = "/bin/sh";

    private final ProgramCalls system;
    private final long environment;

    public Exec(ProgramCalls system, List<byte[]> environment) {
        this.system = system;
        this.environment = system.strings(environment);
    }

    /// The program inherits what the caller passed to Sluice: the signal mask, and no file of the Java runtime. Other open files stay open,
    /// as for any command that runs a command.
    public void restore(long blockedSignals) {
        system.blockSignals(blockedSignals);
        Path runtime = Path.of(System.getProperty("java.home"));
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                if (isUnder(runtime, descriptor)) {
                    system.closeOnExec(Long.parseLong(descriptor.getFileName().toString()));
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

    /// Becomes the program at a path. Returns only after a failure, with the number of the error.
    public int execute(byte[] path, List<byte[]> arguments) {
        if (!system.mayExecute(path)) {
            return system.isThere(path) ? Errno.EACCES : Errno.ENOENT;
        }
        int error = system.execute(path, arguments, environment);
        if (error != Errno.ENOEXEC) {
            return error == Errno.ENOENT ? NO_INTERPRETER : error;
        }
        List<byte[]> script = new ArrayList<>(arguments);
        script.set(0, path);
        script.addFirst(SHELL.getBytes(StandardCharsets.UTF_8));
        return system.execute(script.getFirst(), script, environment);
    }
}
