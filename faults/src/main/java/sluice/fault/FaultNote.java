package sluice.fault;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;

/// How one test of the suite ended: a line of a file that all modules of a build share.
record FaultNote(Fault.Kind kind, String of, Result result, double seconds, String test) {
    enum Result { HELD, FAILED, SKIPPED }

    /// Several test processes append at a time, a line each.
    void append(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        String line = String.join("\t", kind.name(), of, result.name(), String.format(Locale.ROOT, "%.3f", seconds), test);
        Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    static List<FaultNote> read(Path file) throws IOException {
        return Files.exists(file) ? Files.readAllLines(file).stream().map(FaultNote::parse).toList() : List.of();
    }

    private static FaultNote parse(String line) {
        String[] parts = line.split("\t");
        return new FaultNote(Fault.Kind.valueOf(parts[0]), parts[1], Result.valueOf(parts[2]), Double.parseDouble(parts[3]), parts[4]);
    }
}
