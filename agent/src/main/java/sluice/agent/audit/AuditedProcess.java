package sluice.agent.audit;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import sluice.agent.os.ContainerId;
import sluice.region.place.Identity;
import sluice.region.place.Processes;
import sluice.region.place.ThisProcess;

/// The kernel's facts about a process on a GPU. The program itself can choose only the command line.
///
/// @param uid        its real user
/// @param uidNow     its effective user
/// @param innerPid   its pid in its own pid namespace
/// @param executable the file that it runs; empty when it is not shown to us
/// @param ofRoot     whether that file is root's and only root can write it
record AuditedProcess(Identity identity, long uid, long uidNow, long innerPid, String executable, boolean ofRoot, String commandLine,
        String container) {
    private static final int WRITABLE_BY_OTHERS = 0022;
    /// Far more mappings than a kernel allows a process.
    private static final int MOST_MAPPINGS = 1 << 20;
    private static final int MOST_REGIONS = 4;
    private static final String REGION = ".region";

    /// Empty: no such process is visible here.
    static Optional<AuditedProcess> read(long pid) {
        Optional<Identity> before = Identity.of(pid);
        if (before.isEmpty()) {
            return before.map(none -> null);
        }
        try {
            List<String> status = Files.readAllLines(folder(pid).resolve("status"), StandardCharsets.ISO_8859_1);
            long[] uids = numbers(status, "Uid:");
            long[] pids = numbers(status, "NSpid:");
            AuditedProcess read = new AuditedProcess(before.get(), uids[0], uids[1], pids.length == 0 ? pid : pids[pids.length - 1],
                    executable(pid), ofRoot(pid), Processes.BY_PROC.commandLine(before.get()), ContainerId.of(pid));
            return Identity.of(pid).filter(read.identity()::equals).map(same -> read);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Path folder(long pid) {
        return Path.of("/proc", Long.toString(pid));
    }

    private static long[] numbers(List<String> status, String name) throws IOException {
        for (String line : status) {
            if (line.startsWith(name)) {
                return Arrays.stream(line.substring(name.length()).strip().split("\\s+")).mapToLong(Long::parseLong).toArray();
            }
        }
        if (name.equals("Uid:")) {
            throw new IOException("no user in status");
        }
        return new long[0];
    }

    private static String executable(long pid) {
        try {
            return Files.readSymbolicLink(folder(pid).resolve("exe")).toString();
        } catch (IOException e) {
            return "";
        }
    }

    private static boolean ofRoot(long pid) {
        try {
            Path file = folder(pid).resolve("exe");
            return (Integer) Files.getAttribute(file, "unix:uid") == 0 && ((Integer) Files.getAttribute(file, "unix:mode") & WRITABLE_BY_OTHERS) == 0;
        } catch (IOException e) {
            return false;
        }
    }

    String program() {
        return executable.substring(executable.lastIndexOf('/') + 1);
    }

    /// Whether it is in another pid namespace than this process.
    boolean isForeign() {
        return innerPid != identity.pid();
    }

    /// The pids by which regions may name it: the one that the agent sees, and the one in its own namespace.
    List<Identity> names() {
        return isForeign() ? List.of(identity, Identity.of(innerPid, identity.startTicks())) : List.of(identity);
    }

    /// Its mappings; empty: the kernel does not show them.
    Optional<Mappings> mappings() {
        Set<Path> regions = new LinkedHashSet<>();
        boolean driver = false;
        try (BufferedReader lines = Files.newBufferedReader(folder(identity.pid()).resolve("maps"), StandardCharsets.ISO_8859_1)) {
            String line = lines.readLine();
            for (int count = 0; line != null && count < MOST_MAPPINGS; count++, line = lines.readLine()) {
                int path = line.indexOf('/');
                driver |= path >= 0 && (line.indexOf("/libcuda.so", path) >= 0 || line.startsWith("/dev/nvidia", path));
                if (path >= 0 && line.endsWith(REGION) && regions.size() < MOST_REGIONS) {
                    regions.add(mapped(line, path));
                }
            }
            return Optional.of(new Mappings(driver, List.copyOf(regions)));
        } catch (IOException | InvalidPathException e) {
            return Optional.empty();
        }
    }

    /// Only root may follow the kernel's links. The agent of another user looks up the names that processes of the same user have mapped.
    private Path mapped(String line, int path) {
        long self = Integer.toUnsignedLong(ThisProcess.current().uid());
        return self != 0 && uid == self && uidNow == self ? Path.of(line.substring(path))
                : folder(identity.pid()).resolve("map_files").resolve(line.substring(0, line.indexOf(' ')));
    }

    /// @param driver  whether a CUDA driver or a device of NVIDIA's is among it
    /// @param regions files that are named as regions, by the kernel's links to what is mapped: root looks up no name of a process
    record Mappings(boolean driver, List<Path> regions) {}
}
