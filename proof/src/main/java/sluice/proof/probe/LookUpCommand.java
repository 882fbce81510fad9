package sluice.proof.probe;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.TreeSet;
import sluice.cuda.LookUp;
import sluice.proof.facts.Facts;

/// Which function cuGetProcAddress gives for every name, at every version that brought something, with every flag.
/// A fact for each name: a number made of all answers, so that two processes can be compared name by name.
final class LookUpCommand {
    private static final String TABLE = "cuda.api";
    private static final long[] FLAGS = {0, 1, 2};
    private static final int FIRST_VERSION = 11000;
    private static final int LAST_VERSION = 13000;

    /// One entry point of the table.
    private record Row(String name, int since) {}

    private LookUpCommand() {}

    static Facts run() throws IOException {
        LookUp lookUp = LookUp.open().orElseThrow(() -> new IOException("this driver has no cuGetProcAddress"));
        List<Row> rows = rows();
        TreeSet<Integer> versions = new TreeSet<>(List.of(FIRST_VERSION, LAST_VERSION));
        rows.stream().map(Row::since).filter(since -> since > FIRST_VERSION && since < LAST_VERSION).forEach(versions::add);
        Facts facts = Facts.of();
        try (Arena arena = Arena.ofConfined()) {
            for (String name : rows.stream().map(Row::name).distinct().toList()) {
                int all = 1;
                for (int version : versions) {
                    for (long flags : FLAGS) {
                        all = 31 * all + text(arena, lookUp.four(name, version, flags)).hashCode();
                        all = 31 * all + text(arena, lookUp.five(name, version, flags)).hashCode();
                    }
                }
                facts.values().put(name, Integer.toHexString(all));
            }
        }
        return facts;
    }

    private static String text(Arena arena, LookUp.Found found) {
        return found.status() + " " + found.how() + " " + symbolOf(arena, found.address());
    }

    /// The lines of the table that are entry points begin with a symbol; `_v2` is no part of the name that is asked for.
    private static List<Row> rows() throws IOException {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(LookUpCommand.class.getResourceAsStream(TABLE)))) {
            return lines.lines().filter(line -> line.startsWith("cu")).map(line -> line.split(" +"))
                    .map(columns -> new Row(columns[0].replaceFirst("_v\\d+$", ""), Integer.parseInt(columns[1])))
                    .toList();
        }
    }

    private static final MethodHandle DLADDR = dladdr();
    private static final long INFO_BYTES = 32;
    private static final long INFO_SYMBOL = 16;

    @SuppressWarnings("restricted")
    private static MethodHandle dladdr() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find("dladdr").orElseThrow(), FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    }

    /// Without its file: the library has the names of the driver.
    @SuppressWarnings("restricted")
    private static String symbolOf(Arena arena, MemorySegment address) {
        if (address.address() == 0) {
            return "nothing";
        }
        MemorySegment info = arena.allocate(INFO_BYTES, ADDRESS.byteAlignment());
        try {
            if ((int) DLADDR.invokeExact(address, info) == 0) {
                return "unknown";
            }
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
        MemorySegment name = info.get(ADDRESS, INFO_SYMBOL);
        return name.address() == 0 ? "unnamed" : name.reinterpret(256).getString(0);
    }
}
