package sluice.agent.history;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import sluice.agent.history.SeriesTable.Series;
import sluice.agent.http.Caller;
import sluice.agent.machine.MachineLook;
import sluice.agent.machine.MachineLook.GpuLook;
import sluice.agent.machine.MachineLook.Rates;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.region.TenantGpu;
import sluice.region.limits.Size;
import sluice.region.place.SluiceException;

/// The history in a file of fixed size: every recent look, and one sample for each ten seconds of the hours before. How far back it goes
/// depends on the number of tenants: 16 MiB hold 12 hours of 64 tenants. There are places for 1,023 series; samples of other series are
/// counted and left out.
public final class History implements AutoCloseable {
    private static final long MAGIC = 0x73_6c_68_69_73_74_30_31L;
    private static final long HEADER_BYTES = 4096;
    private static final long LEAST_BYTES = 1 << 20;
    private static final int FINE_PART = 4;
    /// At most this part of the disk's free space.
    private static final int MOST_PART = 2;
    /// How long a sample of the hours before stands for.
    static final int COARSE_SECONDS = 10;

    private final FileChannel file;
    private final SeriesTable table;
    private final SampleRing fine;
    private final SampleRing coarse;
    private final PrintStream log;
    private final Map<Integer, Sums> sums = new HashMap<>();
    private long sumsBegan;
    private final SeriesChoice choice = new SeriesChoice(SeriesTable.PLACES - 1);
    private volatile long dropped;
    private boolean failed;

    public History(Path folder, long bytes, PrintStream log) {
        this.log = log;
        Path path = folder.resolve("history");
        long size = Math.max(LEAST_BYTES, bytes);
        try {
            requireRoom(path, size);
            file = FileChannel.open(path, Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            prepare(size);
            long rings = HEADER_BYTES + SeriesTable.BYTES;
            long fineBytes = (size - rings) / FINE_PART;
            table = new SeriesTable(file, HEADER_BYTES);
            fine = new SampleRing(file, rings, fineBytes);
            coarse = new SampleRing(file, rings + fineBytes, size - rings - fineBytes);
        } catch (IOException e) {
            throw new SluiceException("cannot keep the history in " + path + " (" + SluiceException.reason(e) + "); set state-directory", e);
        }
    }

    /// Bytes that the file has already need no free space. Half of the free space is left to others.
    private static void requireRoom(Path path, long size) throws IOException {
        long there = Files.exists(path) ? Files.size(path) : 0;
        long room = there + Files.getFileStore(path.getParent()).getUsableSpace() / MOST_PART;
        if (size > room) {
            throw new SluiceException("history-size " + Size.format(size) + " is more than " + path.getParent() + " has room for; write at most "
                    + "history-size = " + Math.max(LEAST_BYTES, room) / (1 << 20) + "m, or set state-directory");
        }
    }

    /// Replaces a file of another size or kind by a new one.
    private void prepare(long size) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(2 * Long.BYTES);
        int read = file.read(header, 0);
        if (read < 2 * Long.BYTES || header.getLong(0) != MAGIC || header.getLong(Long.BYTES) != size) {
            file.truncate(0);
            file.write(ByteBuffer.allocate(2 * Long.BYTES).putLong(MAGIC).putLong(size).flip(), 0);
        }
    }

    /// Keeps the samples of a look. On a full disk only the history suffers.
    public synchronized void see(MachineLook look) {
        try {
            List<Sample> samples = samples(look);
            fine.append(samples);
            thin(samples, look.at().getEpochSecond());
            failed = false;
        } catch (IOException e) {
            if (!failed) {
                log.println("sluice: the history cannot be written: " + e.getMessage());
            }
            failed = true;
        }
    }

    private void thin(List<Sample> samples, long second) throws IOException {
        if (sumsBegan == 0 || second < sumsBegan) {
            sumsBegan = second;
        }
        if (second - sumsBegan >= COARSE_SECONDS) {
            List<Sample> thinned = new ArrayList<>();
            sums.forEach((series, sum) -> thinned.add(sum.sample(series, sumsBegan)));
            coarse.append(thinned);
            sums.clear();
            sumsBegan = second;
        }
        samples.forEach(sample -> sums.computeIfAbsent(sample.series(), added -> new Sums()).add(sample));
    }

    private List<Sample> samples(MachineLook look) throws IOException {
        List<Seen> seen = seen(look);
        Set<Series> chosen = choice.choose(seen.stream().map(Seen::candidate).toList(), table.known());
        List<Sample> samples = new ArrayList<>();
        for (Seen each : seen) {
            if (chosen.contains(each.series())) {
                samples.add(each.sample(table.number(each.series(), chosen), look.at().getEpochSecond()));
            }
        }
        dropped += seen.size() - samples.size();
        return samples;
    }

    /// A sample that has no number yet.
    private record Seen(Series series, long usedBytes, long limitBytes, int gotPermille, int submittedPerSecond, int waitedPermille) {
        Sample sample(int number, long second) {
            return new Sample(number, second, usedBytes, limitBytes, gotPermille, submittedPerSecond, waitedPermille);
        }

        SeriesChoice.Candidate candidate() {
            return new SeriesChoice.Candidate(series, gotPermille, usedBytes);
        }
    }

    private static List<Seen> seen(MachineLook look) {
        List<Seen> seen = new ArrayList<>();
        for (GpuLook gpu : look.gpus()) {
            seen.add(new Seen(new Series(Caller.UNKNOWN, gpu.uuid(), gpu.index(), 0, ""), gpu.usedBytes(), gpu.totalBytes(),
                    Math.max(-1, gpu.utilizationPercent() * 10), 0, 0));
        }
        for (TenantLook tenant : look.tenants()) {
            for (int at = 0; tenant.tenant().state().lives() && at < tenant.rates().size(); at++) {
                TenantGpu gpu = tenant.tenant().gpus().get(at);
                Rates rates = tenant.rates().get(at);
                seen.add(new Seen(new Series(tenant.tenant().uid(), gpu.uuid(), gpu.index(), tenant.tenant().createdNanos(), tenant.tenant().name()),
                        gpu.usedBytes(), gpu.limitBytes(), rates.gotPermille(), (int) rates.submittedPerSecond(),
                        rates.capWaitedPermille() + rates.turnWaitedPermille()));
            }
        }
        return seen;
    }

    /// The number of samples of series without a place, since the agent began.
    public long droppedSamples() {
        return dropped;
    }

    /// All present samples of a time, in no order. No writer waits meanwhile; a sample that is being written is left out.
    void read(boolean thinned, long fromSecond, long toSecond, BiConsumer<Series, Sample> reader) throws IOException {
        Map<Integer, Series> known = known();
        (thinned ? coarse : fine).read(sample -> {
            Series series = known.get(sample.series());
            if (series != null && sample.second() >= fromSecond && sample.second() <= toSecond) {
                reader.accept(series, sample);
            }
        });
    }

    private synchronized Map<Integer, Series> known() {
        return table.copy();
    }

    @Override
    public synchronized void close() {
        try {
            file.close();
        } catch (IOException e) {
            // The samples that were written are in the file.
        }
    }
}
