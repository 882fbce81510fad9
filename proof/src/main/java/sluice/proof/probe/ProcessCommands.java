package sluice.proof.probe;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sluice.proof.facts.Facts;

/// A probe that starts another one, or becomes one.
final class ProcessCommands {
    private ProcessCommands() {}

    /// Runs one command in a child process, which inherits the environment, and reports what the child reports.
    static Facts spawn(String[] command) throws IOException, InterruptedException {
        List<String> line = ownCommandLine();
        line.addAll(Arrays.asList(command));
        Process child = new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        Facts facts = Facts.parse(new String(child.getInputStream().readAllBytes()).strip());
        child.waitFor();
        return facts;
    }

    /// Becomes a fresh probe: same process, new program. It says hello again.
    @SuppressWarnings("restricted")
    static Facts exec() throws IOException {
        Linker linker = Linker.nativeLinker();
        MethodHandle execv = linker.downcallHandle(
                linker.defaultLookup().find("execv").orElseThrow(), FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
        List<String> line = ownCommandLine();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment arguments = arena.allocate(ADDRESS, line.size() + 1);
            for (int i = 0; i < line.size(); i++) {
                arguments.setAtIndex(ADDRESS, i, arena.allocateFrom(line.get(i)));
            }
            int failed = (int) execv.invokeExact(arena.allocateFrom(line.getFirst()), arguments);
            throw new IOException("execv of " + line.getFirst() + " answered " + failed);
        } catch (IOException failed) {
            throw failed;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static List<String> ownCommandLine() throws IOException {
        List<String> line = new ArrayList<>(List.of(Files.readString(Path.of("/proc/self/cmdline")).split("\0")));
        line.set(0, Files.readSymbolicLink(Path.of("/proc/self/exe")).toString());
        return line;
    }
}
