package sluice.agent.reservoir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import sluice.linux.Pidfd;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// The part of the machine's reservoir that each process has. Granted memory counts, used or not, until the process gives pages back or ends.
public final class Reservoir implements AutoCloseable {
    private static final long PAGE_BYTES = 2L << 20;
    private static final int MOST_FILES = 1024;
    private static final int MOST_FILES_OF_A_USER = 256;

    private final long budgetBytes;
    private final LongSupplier freeBytes;
    private final Filler filler = new Filler();
    private final Map<Identity, ReservoirFile> files = new HashMap<>();

    /// @param budgetBytes the most for all processes of the machine together
    public static Reservoir of(long budgetBytes) {
        return new Reservoir(budgetBytes, new HostMemory(Path.of("/"))::freeBytes);
    }

    Reservoir(long budgetBytes, LongSupplier freeBytes) {
        this.budgetBytes = budgetBytes / PAGE_BYTES * PAGE_BYTES;
        this.freeBytes = freeBytes;
    }

    /// A process that asks.
    ///
    /// @param limitBytes  the most that its tenant may have; 0 = as much as there is
    /// @param wantedBytes how much its tenant needs when a page is made
    public record Asker(Identity process, long uid, String tenant, long limitBytes, LongSupplier wantedBytes) {}

    /// @param descriptor of the file, which stays open here; none: the reservoir has less
    /// @param leftBytes  the most that the process could have, in all
    public record Grant(Optional<Integer> descriptor, long leftBytes) {}

    /// @param bytes how much the process needs in all
    /// @param held  number of the file in which it has something; 0 = none
    public synchronized Grant ask(Asker asker, long bytes, long held) {
        if (bytes <= 0) {
            throw new SluiceException("a job asks for no host memory; is the library of this version?");
        }
        Optional<ReservoirFile> known = known(asker, held);
        if (held != 0 && known.filter(file -> file.number() == held).isEmpty()) {
            throw new SluiceException("the host memory of the job is of an agent before this one");
        }
        long has = known.map(ReservoirFile::grantedBytes).orElse(0L);
        long taken = known.map(ReservoirFile::takenBytes).orElse(0L);
        long left = Math.min(budgetBytes - (grantedBytes() - has), freeBytes.getAsLong() - promised() + Math.max(has, taken));
        if (asker.limitBytes() > 0) {
            left = Math.min(left, asker.limitBytes() - (sum(file -> file.tenant().equals(asker.tenant()) ? file.grantedBytes() : 0) - has));
        }
        if (bytes > left) {
            return new Grant(Optional.empty(), Math.max(0, left));
        }
        ReservoirFile file = known.orElseGet(() -> make(asker));
        file.grant(held == 0 ? bytes : Math.max(has, bytes));
        file.fill(filler, asker.wantedBytes());
        return new Grant(Optional.of(file.descriptor()), left);
    }

    /// A process that continues as another user, or in another tenant, never sees its earlier memory. If it reports that it still uses that
    /// memory, it may be the same program with another user: then the agent takes nothing from it.
    private Optional<ReservoirFile> known(Asker asker, long held) {
        ReservoirFile known = files.get(asker.process());
        if (known == null || known.uid() == asker.uid() && known.tenant().equals(asker.tenant())) {
            return Optional.ofNullable(known);
        }
        if (held != 0) {
            throw new SluiceException("the host memory of the job was another user's or tenant's");
        }
        files.remove(asker.process()).end();
        return Optional.empty();
    }

    /// Granted bytes that are not in memory yet.
    private long promised() {
        return sum(file -> Math.max(0, file.grantedBytes() - file.takenBytes()));
    }

    private ReservoirFile make(Asker asker) {
        if (files.size() >= MOST_FILES || sum(file -> file.uid() == asker.uid() ? 1 : 0) >= MOST_FILES_OF_A_USER) {
            forgetEnded();
        }
        if (files.size() >= MOST_FILES || sum(file -> file.uid() == asker.uid() ? 1 : 0) >= MOST_FILES_OF_A_USER) {
            throw new SluiceException("too many processes have host memory of the agent");
        }
        ReservoirFile file = new ReservoirFile(asker.process(), asker.uid(), asker.tenant(), budgetBytes);
        files.put(asker.process(), file);
        return file;
    }

    private void forgetEnded() {
        List<ReservoirFile> all = List.copyOf(files.values());
        for (int place : Pidfd.ended(all.stream().map(ReservoirFile::process).toList())) {
            files.values().remove(all.get(place));
            all.get(place).end();
        }
    }

    /// Takes back the memory of ended processes, and counts the pages that other processes gave back.
    public synchronized void follow() {
        forgetEnded();
        files.values().forEach(ReservoirFile::lowerGrant);
    }

    private long sum(ToLongFunction<ReservoirFile> what) {
        return files.values().stream().mapToLong(what).sum();
    }

    public long budgetBytes() {
        return budgetBytes;
    }

    public synchronized long grantedBytes() {
        return sum(ReservoirFile::grantedBytes);
    }

    /// Bytes that are in memory now.
    public synchronized long takenBytes() {
        return sum(ReservoirFile::takenBytes);
    }

    /// Pages are being made. The memory of an ended process is freed as soon as they are made.
    synchronized boolean isFilling() {
        return files.values().stream().anyMatch(ReservoirFile::isFilling);
    }

    public synchronized int processes() {
        return files.size();
    }

    /// Live processes keep their memory.
    @Override
    public synchronized void close() {
        filler.close();
        files.values().forEach(ReservoirFile::leave);
        files.clear();
    }
}
