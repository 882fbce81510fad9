package sluice.proof.probe;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import sluice.cuda.Nvml;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.Session;

/// Finds the file of the running program that contains the address of a symbol.
final class WhereCommand {
    private static final int ANY_VERSION = 13000;

    private WhereCommand() {}

    static Facts run(Session session, String symbol) throws IOException {
        Optional<MemorySegment> found = symbol.startsWith("nvml")
                ? Nvml.open().flatMap(nvml -> nvml.address(symbol))
                : session.driver().address(symbol, ANY_VERSION);
        return Facts.of("file", found.isEmpty() ? "" : file(found.get().address()));
    }

    private static String file(long address) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            String[] columns = line.split(" +", 6);
            String[] range = columns[0].split("-");
            if (Long.parseUnsignedLong(range[0], 16) <= address && address < Long.parseUnsignedLong(range[1], 16)) {
                return columns.length > 5 ? columns[5] : "";
            }
        }
        return "";
    }
}
