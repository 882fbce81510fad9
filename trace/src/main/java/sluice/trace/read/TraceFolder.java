package sluice.trace.read;

import static sluice.region.layout.TraceLayout.*;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import sluice.region.place.SluiceException;

/// A recorded trace: a folder with a ring for each thread, and for each process its names and a description.
///
/// Opening it reads every event once and keeps none. [#forEach] goes through them in order, in bounded memory.
public final class TraceFolder implements AutoCloseable {
    private static final int PROGRESS_EVENTS = 1 << 16;

    private final Path path;
    private final List<RingScan> rings = new ArrayList<>();
    private final TraceNames names = new TraceNames("unnamed ");
    private final Map<String, TraceNames> entries = new HashMap<>();
    private final ProcessFiles processes = new ProcessFiles();
    private final List<TraceDamage> damage = new ArrayList<>();
    private final List<SluiceException> unreadable = new ArrayList<>();
    private final TickClock clock;
    private final TickRange range;
    private final TraceInfo info;
    private final Map<RingFile, Long> impossible = new HashMap<>();

    private TraceFolder(Path path) throws IOException {
        this.path = path;
        TickClock.Builder moments = new TickClock.Builder();
        try {
            for (Path file : files(path, "ring-*")) {
                scan(file, moments);
            }
            for (Path file : files(path, "names-*")) {
                names.read(file, damage);
            }
            for (Path file : files(path, "process-*")) {
                processes.read(ending(file), file, damage);
            }
            for (Path file : files(path, "entries-*")) {
                entries.computeIfAbsent(ending(file), digest -> new TraceNames("entry ")).read(file, damage);
            }
            clock = moments.build();
            range = clock.range();
            for (int at = 0; at < rings.size(); at++) {
                rings.set(at, rings.get(at).within(range));
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
        info = makeInfo();
    }

    /// A ring that cannot be read at all is left out, unless it is the only one.
    private void scan(Path file, TickClock.Builder moments) throws IOException {
        try {
            Optional<RingFile> ring = RingFile.open(file);
            if (ring.isPresent()) {
                damage.addAll(ring.get().damage());
                rings.add(RingScan.of(ring.get(), moments));
                moments.modified(Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS));
            }
        } catch (SluiceException e) {
            unreadable.add(e);
            damage.add(new TraceDamage(file.getFileName().toString(), "cannot be read as a ring", TraceDamage.UNKNOWN));
        }
    }

    public static TraceFolder open(Path path) {
        TraceFolder folder = openEmptyToo(path);
        if (folder.rings.isEmpty() && !folder.unreadable.isEmpty()) {
            throw folder.unreadable.getFirst();
        }
        if (folder.rings.isEmpty() && folder.processes.isEmpty()) {
            throw new SluiceException("there is no trace in " + path + "; record one with 'sluice run --trace DIR' or 'sluice trace'");
        }
        return folder;
    }

    /// Opens a folder that may have no recorded events.
    public static TraceFolder openEmptyToo(Path path) {
        try {
            return new TraceFolder(path);
        } catch (NoSuchFileException | NotDirectoryException e) {
            throw new SluiceException("there is no folder " + path + "; give the folder that a trace was recorded to", e);
        } catch (IOException e) {
            throw new SluiceException("cannot read the trace in " + path + " (" + e.getMessage() + ")", e);
        }
    }

    private static List<Path> files(Path folder, String pattern) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, pattern)) {
            for (Path file : found) {
                if (Files.isRegularFile(file)) {
                    files.add(file);
                }
            }
        }
        files.sort(Comparator.naturalOrder());
        return files;
    }

    private static String ending(Path file) {
        String name = file.getFileName().toString();
        return name.substring(name.indexOf('-') + 1);
    }

    private TraceInfo makeInfo() {
        List<TraceInfo.ThreadRing> threads = new ArrayList<>();
        long begin = Long.MAX_VALUE;
        long end = Long.MIN_VALUE;
        for (RingScan scan : rings) {
            RingFile ring = scan.ring();
            threads.add(new TraceInfo.ThreadRing(ring.pid(), ring.tid(), ring.threadName(), scan.events(), ring.dropped()));
            if (scan.events() > 0) {
                begin = Math.min(begin, range.shown(scan.beginTicks()));
                end = Math.max(end, scan.endTicks());
            }
            processes.know(ring.process());
        }
        return new TraceInfo(processes.tenant(), processes.list(), List.copyOf(threads), processes.gpus(),
                threads.stream().mapToLong(TraceInfo.ThreadRing::events).sum(),
                threads.stream().mapToLong(TraceInfo.ThreadRing::dropped).sum(),
                begin > end ? 0 : clock.nanos(begin), begin > end ? 0 : clock.nanos(end), clock.anchor());
    }

    /// The names of entry points that the ring's library had.
    private TraceNames functions(RingFile ring) {
        return entries.computeIfAbsent(processes.entriesDigest(ring.process()), digest -> new TraceNames("entry "));
    }

    public Path path() {
        return path;
    }

    public TraceInfo info() {
        return info;
    }

    /// The damage of the files that was found so far: each event is checked when it is read.
    public List<TraceDamage> damage() {
        List<TraceDamage> all = new ArrayList<>(damage);
        for (RingScan scan : rings) {
            long wrong = scan.outside() + impossible.getOrDefault(scan.ring(), 0L);
            if (wrong > 0) {
                all.add(new TraceDamage(scan.ring().path().getFileName().toString(), "has events that cannot be true", wrong));
            }
        }
        return all;
    }

    /// Goes through all events of all threads, in the order of their ends.
    public void forEach(Consumer<TraceEvent> consumer, TraceProgress progress) {
        try {
            impossible.clear();
            EventDecoder decoder = new EventDecoder(clock, range, names, info.gpus().stream().map(TraceInfo.Gpu::index).collect(Collectors.toSet()));
            PriorityQueue<Source> sources = new PriorityQueue<>(
                    Comparator.comparingLong((Source source) -> source.reader.nextTicks()).thenComparingInt(source -> source.number));
            for (RingScan scan : rings) {
                Source source = new Source(sources.size(), scan.ring(), new RingReader(scan), functions(scan.ring()));
                if (!source.reader.isEmpty()) {
                    sources.add(source);
                }
            }
            merge(sources, decoder, consumer, progress);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the trace in " + path, e);
        }
    }

    private void merge(PriorityQueue<Source> sources, EventDecoder decoder, Consumer<TraceEvent> consumer, TraceProgress progress)
            throws IOException {
        long[] words = new long[RingEvent.WORDS];
        long done = 0;
        while (!sources.isEmpty()) {
            Source source = sources.poll();
            Source following = sources.peek();
            long until = following == null ? Long.MAX_VALUE : following.reader.nextTicks();
            do {
                source.reader.next(words);
                TraceEvent event = decoder.decode(source.ring.pid(), source.ring.tid(), words, source.functions);
                if (event != null) {
                    consumer.accept(event);
                } else {
                    impossible.merge(source.ring, 1L, Long::sum);
                }
                if (++done % PROGRESS_EVENTS == 0) {
                    progress.at(done, info.events());
                }
            } while (!source.reader.isEmpty() && source.reader.nextTicks() < until);
            if (!source.reader.isEmpty()) {
                sources.add(source);
            }
        }
        progress.at(done, info.events());
    }

    private record Source(int number, RingFile ring, RingReader reader, TraceNames functions) {}

    @Override
    public void close() {
        for (RingScan scan : rings) {
            try {
                scan.ring().close();
            } catch (IOException e) {
                // It was only read.
            }
        }
    }
}
