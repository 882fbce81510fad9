package sluice.trace.export;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A Perfetto trace as Perfetto's own importer understands it, by the public documentation of TrackEvent: packets sorted by
/// time (equal times stay in the order of the file), names by sequence, slices nested by track. Whatever does not fit is an error.
public final class PerfettoFile {
    private static final int CLEARED = 1;
    private static final int NEEDS_STATE = 2;

    enum Type { NONE, SLICE_BEGIN, SLICE_END, INSTANT, COUNTER }

    public record TrackOf(long uuid, long parent, String name, String kind, long pid, long tid) {}

    public record Slice(long track, long begin, long end, String category, String name, Map<String, Object> details, int depth) {}

    public record Instant(long track, long at, String name) {}

    public record Count(long track, long at, long value) {}

    private record Event(long at, long track, Type type, String category, String name, Map<String, Object> details, long value) {}

    public final Map<Long, TrackOf> tracks = new TreeMap<>();
    public final List<Slice> slices = new ArrayList<>();
    public final List<Instant> instants = new ArrayList<>();
    public final List<Count> counts = new ArrayList<>();
    public final Map<Long, Long> clocks = new HashMap<>();
    private final Map<Long, Sequence> sequences = new HashMap<>();
    private final List<Event> events = new ArrayList<>();

    private PerfettoFile() {}

    private static final class Sequence {
        private final Map<String, Map<Long, String>> interned = new HashMap<>();
        private long defaultTrack;
        private long defaultClock;
    }

    public static PerfettoFile read(Path file) throws IOException {
        PerfettoFile trace = new PerfettoFile();
        ProtoReader whole = ProtoReader.of(Files.readAllBytes(file));
        if (!whole.fields().keySet().equals(java.util.Set.of(1))) {
            throw new AssertionError("a Trace has packets only, not " + whole.fields().keySet());
        }
        whole.messages(1).forEach(trace::packet);
        trace.nest();
        return trace;
    }

    private void packet(ProtoReader packet) {
        long id = packet.number(10);
        if (id == 0) {
            throw new AssertionError("packet without trusted_packet_sequence_id");
        }
        long flags = packet.number(13);
        if ((flags & CLEARED) != 0) {
            sequences.put(id, new Sequence());
        }
        if (packet.has(6)) {
            packet.message(6).messages(1).forEach(clock -> clocks.put(clock.number(1), clock.number(2)));
        }
        Sequence sequence = sequences.get(id);
        if (packet.has(59)) {
            sequence.defaultClock = packet.message(59).number(58);
            sequence.defaultTrack = packet.message(59).message(11).number(11);
        }
        if (packet.has(60)) {
            track(packet.message(60));
        }
        if (packet.has(12)) {
            intern(sequence, packet.message(12));
        }
        if (packet.has(11)) {
            if ((flags & NEEDS_STATE) == 0 || sequence == null) {
                throw new AssertionError("an event that uses names of a sequence without its state");
            }
            if (!clocks.containsKey(sequence.defaultClock)) {
                throw new AssertionError("clock " + sequence.defaultClock + " is in no snapshot");
            }
            event(packet.number(8), sequence, packet.message(11));
        }
    }

    private void track(ProtoReader track) {
        String kind = track.has(3) ? "process" : track.has(4) ? "thread" : track.has(8) ? "counter" : "slices";
        ProtoReader of = track.has(3) ? track.message(3) : track.has(4) ? track.message(4) : null;
        String name = track.has(3) ? of.text(6) : track.has(4) ? of.text(5) : track.text(2);
        if (track.has(8) && track.message(8).number(3) != 3) {
            throw new AssertionError("a counter of memory has the unit UNIT_SIZE_BYTES");
        }
        if (track.has(5) && !tracks.containsKey(track.number(5))) {
            throw new AssertionError("track " + name + " comes before its parent");
        }
        if (tracks.put(track.number(1), new TrackOf(track.number(1), track.number(5), name, kind, of == null ? 0 : of.number(1),
                track.has(4) ? of.number(2) : 0)) != null) {
            throw new AssertionError("two tracks with the uuid " + track.number(1));
        }
    }

    private static void intern(Sequence sequence, ProtoReader data) {
        Map.of(1, "categories", 2, "names", 3, "keys", 29, "texts").forEach((field, what) -> data.messages(field).forEach(entry -> {
            if (sequence.interned.computeIfAbsent(what, key -> new HashMap<>()).put(entry.number(1), entry.text(2)) != null) {
                throw new AssertionError("iid " + entry.number(1) + " of " + what + " was used twice");
            }
        }));
    }

    private static String interned(Sequence sequence, String what, long iid) {
        String text = sequence.interned.getOrDefault(what, Map.of()).get(iid);
        if (text == null) {
            throw new AssertionError("iid " + iid + " of " + what + " is not known yet");
        }
        return text;
    }

    private void event(long at, Sequence sequence, ProtoReader event) {
        Type type = Type.values()[(int) event.number(9)];
        long track = event.has(11) ? event.number(11) : sequence.defaultTrack;
        if (!tracks.containsKey(track)) {
            throw new AssertionError("an event on a track that is not declared");
        }
        if (tracks.get(track).kind.equals("counter") != (type == Type.COUNTER)) {
            throw new AssertionError(type + " on a track of kind " + tracks.get(track).kind);
        }
        Map<String, Object> details = new TreeMap<>();
        for (ProtoReader detail : event.messages(4)) {
            details.put(interned(sequence, "keys", detail.number(1)),
                    detail.has(17) ? interned(sequence, "texts", detail.number(17)) : (Object) detail.number(4));
        }
        boolean named = type == Type.SLICE_BEGIN || type == Type.INSTANT;
        events.add(new Event(at, track, type, named ? interned(sequence, "categories", event.number(3)) : "",
                named ? interned(sequence, "names", event.number(10)) : "", details, event.number(30)));
    }

    private void nest() {
        events.sort(Comparator.comparingLong(Event::at));
        Map<Long, Deque<Event>> open = new HashMap<>();
        for (Event event : events) {
            Deque<Event> stack = open.computeIfAbsent(event.track, key -> new ArrayDeque<>());
            switch (event.type) {
                case SLICE_BEGIN -> stack.push(event);
                case SLICE_END -> {
                    if (stack.isEmpty()) {
                        throw new AssertionError("an end without a begin on track " + tracks.get(event.track));
                    }
                    Event begin = stack.pop();
                    slices.add(new Slice(event.track, begin.at, event.at, begin.category, begin.name, begin.details, stack.size()));
                }
                case INSTANT -> instants.add(new Instant(event.track, event.at, event.name));
                case COUNTER -> counts.add(new Count(event.track, event.at, event.value));
                case NONE -> throw new AssertionError("an event without a type");
            }
        }
        open.forEach((track, stack) -> {
            if (!stack.isEmpty()) {
                throw new AssertionError("a slice that does not end on track " + tracks.get(track));
            }
        });
    }

    public TrackOf track(String kind, String name) {
        return tracks.values().stream().filter(track -> track.kind.equals(kind) && track.name.equals(name)).findFirst()
                .orElseThrow(() -> new AssertionError("no " + kind + " '" + name + "' in " + tracks.values()));
    }

    public List<Slice> on(TrackOf track) {
        return slices.stream().filter(slice -> slice.track == track.uuid)
                .sorted(Comparator.comparingLong(Slice::begin).thenComparing(Slice::depth)).toList();
    }
}
