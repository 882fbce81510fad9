package sluice.agent.machine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import sluice.region.Region;
import sluice.region.RegionFolder;
import sluice.region.Tenant;
import sluice.region.boards.BoardState;
import sluice.region.boards.Boards;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// Reads the tenants of some folders. A user can make any number of regions and fill each with forged processes. So the agent bounds what
/// it reads of one folder: the number of files, and by records all that is in them. All folders together hold no more than [#MOST_RECORDS].
///
/// A folder with more in it than that is *crowded*. Only the clock reads it, before its look, and a look uses what the clock has read. So
/// its user makes no client wait.
final class TenantsOfAll {
    private static final int MOST_FILES = 2048;
    private static final int MOST_RECORDS = 40_000;
    private static final int LEAST_RECORDS = 1000;
    /// The cost of a file that is no region, in records. Reading it takes as long as a tenant with few processes.
    private static final int RECORDS_OF_NO_REGION = 40;

    private final Processes processes;
    private final EventLog events;
    private final long self = Integer.toUnsignedLong(ThisProcess.current().uid());
    private final Map<Path, Crowd> crowded = new ConcurrentHashMap<>();
    private volatile int foldersInUse = 1;

    /// @param more how many files were not read
    private record Crowd(List<Tenant> tenants, List<BoardState> boards, int more) {}

    TenantsOfAll(Processes processes, EventLog events) {
        this.processes = processes;
        this.events = events;
    }

    int leftOut() {
        return crowded.values().stream().mapToInt(Crowd::more).sum();
    }

    /// Before a look of the clock: reads the crowded folders again.
    void readCrowds(List<RuntimeDirectory> folders) {
        crowded.keySet().retainAll(folders.stream().map(RuntimeDirectory::path).toList());
        folders.stream().filter(folder -> crowded.containsKey(folder.path()))
                .forEach(folder -> read(folder, folder.files("", ".region"), mostRecords(), new ArrayList<>()));
    }

    void read(List<RuntimeDirectory> folders, List<Tenant> tenants) {
        Map<RuntimeDirectory, List<Path>> files = new HashMap<>();
        folders.stream().filter(folder -> !crowded.containsKey(folder.path())).forEach(folder -> files.put(folder, folder.files("", ".region")));
        foldersInUse = (int) files.values().stream().filter(each -> !each.isEmpty()).count() + crowded.size();
        for (RuntimeDirectory folder : folders) {
            Crowd crowd = crowded.get(folder.path());
            if (crowd != null) {
                tenants.addAll(crowd.tenants());
            } else {
                // The clock may just have seen that it is crowded no more.
                List<Path> listed = files.containsKey(folder) ? files.get(folder) : folder.files("", ".region");
                tenants.addAll(read(folder, listed, mostRecords(), new ArrayList<>()));
            }
        }
    }

    /// The boards of a folder. For these, too, it does not list thousands of names.
    List<BoardState> boards(RuntimeDirectory folder) {
        Crowd crowd = crowded.get(folder.path());
        return crowd == null ? Boards.read(folder, processes) : crowd.boards();
    }

    private int mostRecords() {
        return Math.max(LEAST_RECORDS, MOST_RECORDS / Math.max(1, foldersInUse));
    }

    private List<Tenant> read(RuntimeDirectory folder, List<Path> files, int mostRecords, List<Tenant> tenants) {
        int more = files.size() - readSome(folder, files, mostRecords, tenants);
        if (more == 0) {
            crowded.remove(folder.path());
        } else if (crowded.put(folder.path(), new Crowd(tenants, Boards.read(folder, processes), more)) == null) {
            events.add("bound", "", folder.owner(), more + " tenants in " + folder.path() + " are not looked at: it has too many, or too many processes");
        }
        return tenants;
    }

    /// @return how many files were read
    private int readSome(RuntimeDirectory folder, List<Path> files, int mostRecords, List<Tenant> tenants) {
        long owner = folder.owner();
        int records = 0;
        int read = 0;
        try (RegionFolder open = RegionFolder.open(folder)) {
            for (Path file : files) {
                if (read == MOST_FILES || records >= mostRecords) {
                    return read;
                }
                read++;
                records += read(open, file, owner, tenants);
            }
            return read;
        } catch (IOException e) {
            // Gone since.
            return files.size();
        }
    }

    /// @return how many records it has
    private int read(RegionFolder folder, Path file, long owner, List<Tenant> tenants) {
        try {
            Tenant tenant = folder.read(file, processes);
            if (tenant.uid() == owner || owner == self && Region.isSplit(file)) {
                tenants.add(tenant);
            }
            return records(tenant);
        } catch (SluiceException e) {
            // Gone since, of another layout, or no region at all.
            return RECORDS_OF_NO_REGION;
        }
    }

    private static int records(Tenant tenant) {
        return 1 + tenant.gpus().size() + tenant.errors().size() + tenant.processes().size() * (1 + tenant.gpus().size());
    }
}
