package sluice.trace.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.trace.read.TraceEvent;
import sluice.trace.read.TraceInfo;

/// Lays events out on tracks. A process has its threads (calls, and waits within them), its streams (submitted work, at the time when the
/// host submitted it) and its named ranges. A GPU has its batches, turns and memory.
final class Timeline {
    private static final long DEFAULT_STREAM = 1;
    private static final long THREAD_STREAM = 2;

    private final TraceInfo info;
    private final TimelineWriter out;
    private final Details details = new Details();
    private final Map<Integer, Track> processes = new HashMap<>();
    private final Map<Integer, Track> gpus = new HashMap<>();
    private final Map<ThreadKey, ThreadTrack> threads = new HashMap<>();
    private final Map<LaneKey, List<Lane>> lanes = new HashMap<>();
    private final Map<Integer, Track> memory = new HashMap<>();
    private int tracks;

    Timeline(TraceInfo info, TimelineWriter out) throws IOException {
        this.info = info;
        this.out = out;
        for (TraceInfo.Process process : info.processes()) {
            process(process.pid());
        }
        for (TraceInfo.ThreadRing thread : info.threads()) {
            thread(thread.pid(), thread.tid());
        }
        for (TraceInfo.Gpu gpu : info.gpus()) {
            gpu(gpu.index());
        }
    }

    void add(TraceEvent event) {
        try {
            switch (event) {
                case TraceEvent.Call call -> call(call);
                case TraceEvent.Kernel kernel -> kernel(kernel);
                case TraceEvent.Wait wait -> {
                    onThread(wait);
                    thread(wait.pid(), wait.tid()).waitedUntil = wait.endNanos();
                }
                case TraceEvent.Turn turn -> turn(turn);
                case TraceEvent.Batch batch -> batch(batch);
                case TraceEvent.Range range -> range(range);
                case TraceEvent.Mark mark -> mark(mark);
                case TraceEvent.Cost cost -> { }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Writes the slices that were held back, and how many events are missing.
    void finish() throws IOException {
        for (ThreadTrack thread : threads.values()) {
            for (ThreadNesting.Slice slice = thread.nesting.rest(); slice != null; slice = thread.nesting.rest()) {
                write(thread.track, slice);
            }
        }
        for (TraceInfo.ThreadRing thread : info.threads()) {
            if (thread.dropped() > 0) {
                out.mark(thread(thread.pid(), thread.tid()).track, info.endNanos(), "sluice", thread.dropped() + " events dropped",
                        details.clear().number("dropped", thread.dropped()));
            }
        }
    }

    private void call(TraceEvent.Call call) throws IOException {
        onThread(call);
        if (call.bytes() > 0 && call.direction() != TraceEvent.Direction.NONE && call.stream() != 0) {
            submitted(call, "copy", "copy " + call.direction().text(),
                    details.clear().number("bytes", call.bytes()));
        }
        if (call.usedBytes() >= 0) {
            out.bytes(memory(call.gpu()), call.endNanos(), call.usedBytes());
        }
    }

    private void kernel(TraceEvent.Kernel kernel) throws IOException {
        onThread(kernel);
        if (!kernel.failed()) {
            submitted(kernel, "kernel", kernel.name(), details.clear()
                    .text("grid", kernel.grid().toString()).text("block", kernel.block().toString())
                    .number("shared_bytes", kernel.sharedBytes()));
        }
    }

    /// On the stream, from the end of the call's wait: a wait is no work.
    private void submitted(TraceEvent.HostCall call, String category, String name, Details about) throws IOException {
        long waited = thread(call.pid(), call.tid()).waitedUntil;
        long begin = waited <= call.endNanos() ? Math.max(call.beginNanos(), waited) : call.beginNanos();
        slice(lane(process(call.pid()), stream(call.stream()), begin, call.endNanos()), begin, call.endNanos(), category, name, about);
    }

    private void batch(TraceEvent.Batch batch) throws IOException {
        slice(lane(gpu(batch.gpu()), owned("busy", batch.pid()), batch), batch, "gpu", "batch", details.clear().number("calls", batch.calls())
                .number("charged_nanos", batch.chargedNanos()).number("slack_nanos", batch.slackNanos()));
    }

    private void turn(TraceEvent.Turn turn) throws IOException {
        slice(lane(gpu(turn.gpu()), owned("turns", turn.pid()), turn), turn, "turn", "turn", details.clear());
    }

    /// Ranges of a thread that nest are on one track.
    private void range(TraceEvent.Range range) throws IOException {
        String name = "ranges of thread " + range.tid();
        Lane lane = range.nested()
                ? lanes(process(range.pid()), name).getFirst() : lane(process(range.pid()), name + ", not nested", range);
        slice(lane, range, "range", range.name(), domain(range.domain()));
    }

    private void mark(TraceEvent.Mark mark) throws IOException {
        out.mark(lanes(process(mark.pid()), "ranges of thread " + mark.tid()).getFirst().track, mark.beginNanos(), "mark", mark.name(),
                domain(mark.domain()));
    }

    private Details domain(String domain) {
        return domain.isEmpty() ? details.clear() : details.clear().text("domain", domain);
    }

    private void onThread(TraceEvent event) throws IOException {
        ThreadTrack thread = thread(event.pid(), event.tid());
        ThreadNesting.Slice slice = thread.nesting.add(event);
        if (slice != null) {
            write(thread.track, slice);
        }
    }

    private void write(Track track, ThreadNesting.Slice slice) throws IOException {
        TraceEvent event = slice.event();
        out.begin(track, event.beginNanos(), event instanceof TraceEvent.Wait ? TimelineWriter.WAIT : "call", nameOnThread(event), detailsOnThread(event));
        for (ThreadNesting.Slice inner : slice.within()) {
            write(track, inner);
        }
        out.end(track, event.endNanos());
    }

    private static String nameOnThread(TraceEvent event) {
        return switch (event) {
            case TraceEvent.HostCall call -> call.function();
            case TraceEvent.Wait wait -> wait.reason().text();
            default -> event.getClass().getSimpleName();
        };
    }

    private Details detailsOnThread(TraceEvent event) {
        details.clear();
        if (event instanceof TraceEvent.HostCall call) {
            if (call.status() != 0) {
                details.number("status", call.status());
            }
            if (call instanceof TraceEvent.Kernel kernel) {
                details.text("kernel", kernel.name());
            } else if (call instanceof TraceEvent.Call other && other.bytes() > 0) {
                details.number("bytes", other.bytes());
            }
        }
        return details;
    }

    private void slice(Lane lane, TraceEvent event, String category, String name, Details about) throws IOException {
        slice(lane, event.beginNanos(), Math.max(event.beginNanos(), event.endNanos()), category, name, about);
    }

    private void slice(Lane lane, long begin, long end, String category, String name, Details about) throws IOException {
        out.begin(lane.track, begin, category, name, about);
        out.end(lane.track, end);
    }

    private static String stream(long stream) {
        return stream == 0 || stream == DEFAULT_STREAM ? "default stream"
                : stream == THREAD_STREAM ? "threads' default streams" : "stream 0x" + Long.toHexString(stream);
    }

    /// The pid distinguishes tracks that several processes have.
    private String owned(String name, int pid) {
        return info.processes().size() > 1 ? name + " of " + pid : name;
    }

    /// A track on which the event overlaps with no other event: a second track if the first is taken.
    private Lane lane(Track parent, String name, TraceEvent event) throws IOException {
        return lane(parent, name, event.beginNanos(), event.endNanos());
    }

    private Lane lane(Track parent, String name, long begin, long end) throws IOException {
        List<Lane> all = lanes(parent, name);
        for (Lane lane : all) {
            if (lane.endNanos <= begin) {
                lane.endNanos = end;
                return lane;
            }
        }
        Lane lane = new Lane(track(parent, Track.Kind.SLICES, parent.pid(), 0, name + " (" + (all.size() + 1) + ")"));
        lane.endNanos = end;
        all.add(lane);
        return lane;
    }

    private List<Lane> lanes(Track parent, String name) throws IOException {
        LaneKey key = new LaneKey(parent.number(), name);
        List<Lane> all = lanes.get(key);
        if (all == null) {
            all = new ArrayList<>(List.of(new Lane(track(parent, Track.Kind.SLICES, parent.pid(), 0, name))));
            lanes.put(key, all);
        }
        return all;
    }

    private Track process(int pid) throws IOException {
        Track track = processes.get(pid);
        if (track == null) {
            String command = info.processes().stream().filter(process -> process.pid() == pid)
                    .map(TraceInfo.Process::command).filter(text -> !text.isEmpty()).findFirst().orElse("process " + pid);
            track = track(null, Track.Kind.PROCESS, pid, 0, command);
            processes.put(pid, track);
        }
        return track;
    }

    private ThreadTrack thread(int pid, int tid) throws IOException {
        ThreadKey key = new ThreadKey(pid, tid);
        ThreadTrack thread = threads.get(key);
        if (thread == null) {
            String name = info.threads().stream().filter(ring -> ring.pid() == pid && ring.tid() == tid)
                    .map(TraceInfo.ThreadRing::name).findFirst().orElse("thread");
            thread = new ThreadTrack(track(process(pid), Track.Kind.THREAD, pid, tid, name));
            threads.put(key, thread);
        }
        return thread;
    }

    private Track gpu(int gpu) throws IOException {
        Track track = gpus.get(gpu);
        if (track == null) {
            track = track(null, Track.Kind.GROUP, 0, 0, gpu == TraceEvent.NO_GPU ? "GPU" : "GPU " + gpu);
            gpus.put(gpu, track);
        }
        return track;
    }

    private Track memory(int gpu) throws IOException {
        Track track = memory.get(gpu);
        if (track == null) {
            track = track(gpu(gpu), Track.Kind.BYTES, 0, 0, "memory in use");
            memory.put(gpu, track);
        }
        return track;
    }

    private Track track(Track parent, Track.Kind kind, int pid, int tid, String name) throws IOException {
        Track track = new Track(++tracks, parent, kind, pid, tid, name);
        out.declare(track);
        return track;
    }

    private record ThreadKey(int pid, int tid) {}

    private static final class ThreadTrack {
        private final Track track;
        private final ThreadNesting nesting = new ThreadNesting();
        private long waitedUntil = Long.MIN_VALUE;

        ThreadTrack(Track track) {
            this.track = track;
        }
    }

    private record LaneKey(int parent, String name) {}

    private static final class Lane {
        private final Track track;
        private long endNanos = Long.MIN_VALUE;

        Lane(Track track) {
            this.track = track;
        }
    }
}
