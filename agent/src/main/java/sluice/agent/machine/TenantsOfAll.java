package sluice.agent.machine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.region.Processes;
import sluice.region.Region;
import sluice.region.RegionFolder;
import sluice.region.RuntimeDirectory;
import sluice.region.SluiceException;
import sluice.region.Tenant;
import sluice.region.ThisProcess;

/// Reads the tenants of some folders. A user can make any number of regions and fill each with forged processes, so what is read of one folder is
/// bounded: the number of files, and by records all that is in them. All folders together hold no more than [#MOST_RECORDS].
final class TenantsOfAll {
    private static final int MOST_FILES = 2048;
    private static final int MOST_RECORDS = 40_000;
    private static final int LEAST_RECORDS = 1000;
    /// The price of a file that is no region. It takes as long as a tenant with few processes, and a user needs none of them.
    private static final int RECORDS_OF_NO_REGION = 40;

    private final Processes processes;
    private final EventLog events;
    private final long self = Integer.toUnsignedLong(ThisProcess.current().uid());
    private final Map<Path, Boolean> bounded = new HashMap<>();
    private volatile int leftOut;

    TenantsOfAll(Processes processes, EventLog events) {
        this.processes = processes;
        this.events = events;
    }

    int leftOut() {
        return leftOut;
    }

    void read(List<RuntimeDirectory> folders, List<Tenant> tenants) {
        Map<RuntimeDirectory, List<Path>> files = new HashMap<>();
        folders.forEach(folder -> files.put(folder, folder.files("", ".region")));
        long used = files.values().stream().filter(each -> !each.isEmpty()).count();
        int records = (int) Math.max(LEAST_RECORDS, MOST_RECORDS / Math.max(1, used));
        int out = 0;
        for (RuntimeDirectory folder : folders) {
            int read = read(folder, files.get(folder), records, tenants);
            int more = files.get(folder).size() - read;
            out += more;
            tell(folder, more);
        }
        bounded.keySet().retainAll(folders.stream().map(RuntimeDirectory::path).toList());
        leftOut = out;
    }

    /// @return how many files were read
    private int read(RuntimeDirectory folder, List<Path> files, int mostRecords, List<Tenant> tenants) {
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

    private void tell(RuntimeDirectory folder, int more) {
        if (more == 0) {
            bounded.remove(folder.path());
        } else if (bounded.put(folder.path(), true) == null) {
            events.add("bound", "", folder.owner(), more + " tenants in " + folder.path() + " are not looked at: it has too many, or too many processes");
        }
    }
}
