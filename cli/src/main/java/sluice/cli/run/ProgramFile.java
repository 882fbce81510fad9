package sluice.cli.run;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import sluice.cli.process.RawProcess;
import sluice.linux.ProgramCalls;

/// Finds the file of a program as a shell does.
final class ProgramFile {
    private static final String USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

    private ProgramFile() {}

    /// The possible paths of the program; the first that can be started counts.
    ///
    /// @param searchPath the value of PATH, or null
    static List<byte[]> candidates(byte[] program, String searchPath) {
        String name = RawProcess.text(program);
        if (name.isEmpty() || name.indexOf('/') >= 0) {
            return List.of(program);
        }
        List<byte[]> candidates = new ArrayList<>();
        for (String folder : (searchPath == null ? USUAL_PATH : searchPath).split(":", -1)) {
            byte[] prefix = ((folder.isEmpty() ? "." : folder) + "/").getBytes(StandardCharsets.UTF_8);
            byte[] path = Arrays.copyOf(prefix, prefix.length + program.length);
            System.arraycopy(program, 0, path, prefix.length, program.length);
            candidates.add(path);
        }
        return candidates;
    }

    static Optional<byte[]> find(ProgramCalls system, byte[] program, String searchPath) {
        return candidates(program, searchPath).stream().filter(system::mayExecute).findFirst();
    }
}
