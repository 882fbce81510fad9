package sluice.trace.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.trace.read.TraceInfo;

/// Perfetto's format: TrackEvents in Protocol Buffers. The numbers of fields are those of Perfetto's public definitions.
///
/// Each track is a packet sequence of its own. So a packet need not name its track, and names are written once.
final class PerfettoWriter implements TimelineWriter {
    private static final int CLOCK_REALTIME = 1;
    private static final int CLOCK_MONOTONIC = 3;
    private static final int CLOCK_BOOTTIME = 6;
    private static final int STATE_CLEARED = 1;
    private static final int NEEDS_STATE = 2;
    private static final int SLICE_BEGIN = 1;
    private static final int SLICE_END = 2;
    private static final int INSTANT = 3;
    private static final int COUNTER = 4;
    private static final int SIZE_BYTES = 3;

    private final OutputStream out;
    private final ProtoMessage trace = new ProtoMessage();
    private final ProtoMessage packet = new ProtoMessage();
    private final ProtoMessage event = new ProtoMessage();
    private final ProtoMessage interned = new ProtoMessage();
    private final ProtoMessage inner = new ProtoMessage();
    private final List<Names> names = new ArrayList<>();

    PerfettoWriter(OutputStream out, TraceInfo.Anchor anchor) throws IOException {
        this.out = out;
        ProtoMessage snapshot = new ProtoMessage();
        clock(snapshot, CLOCK_BOOTTIME, anchor.monotonicNanos());
        clock(snapshot, CLOCK_MONOTONIC, anchor.monotonicNanos());
        clock(snapshot, CLOCK_REALTIME, anchor.wallNanos());
        snapshot.number(2, CLOCK_MONOTONIC);
        packet.clear().number(10, 1).message(6, snapshot);
        write();
    }

    private void clock(ProtoMessage snapshot, int clock, long nanos) {
        snapshot.message(1, inner.clear().number(1, clock).number(2, nanos));
    }

    @Override
    public void declare(Track track) throws IOException {
        ProtoMessage descriptor = new ProtoMessage().number(1, track.number());
        if (track.parent() != null) {
            descriptor.number(5, track.parent().number());
        }
        switch (track.kind()) {
            case PROCESS -> descriptor.message(3, inner.clear().number(1, track.pid()).text(6, track.name()));
            case THREAD -> descriptor.message(4, inner.clear().number(1, track.pid()).number(2, track.tid()).text(5, track.name()));
            case BYTES -> descriptor.text(2, track.name()).message(8, inner.clear().number(3, SIZE_BYTES));
            case GROUP, SLICES -> descriptor.text(2, track.name());
        }
        ProtoMessage defaults = new ProtoMessage()
                .number(58, CLOCK_MONOTONIC)
                .message(11, new ProtoMessage().number(11, track.number()));
        packet.clear().number(10, sequence(track)).number(13, STATE_CLEARED).message(59, defaults).message(60, descriptor);
        write();
        while (names.size() <= track.number()) {
            names.add(new Names());
        }
    }

    /// Sequence 1 is that of the clocks.
    private static int sequence(Track track) {
        return track.number() + 1;
    }

    @Override
    public void begin(Track track, long nanos, String category, String name, Details details) throws IOException {
        write(track, nanos, SLICE_BEGIN, category, name, details);
    }

    @Override
    public void end(Track track, long nanos) throws IOException {
        event.clear().number(9, SLICE_END);
        write(track, nanos);
    }

    @Override
    public void mark(Track track, long nanos, String category, String name, Details details) throws IOException {
        write(track, nanos, INSTANT, category, name, details);
    }

    @Override
    public void bytes(Track track, long nanos, long bytes) throws IOException {
        event.clear().number(9, COUNTER).number(30, bytes);
        write(track, nanos);
    }

    private void write(Track track, long nanos, int type, String category, String name, Details details) throws IOException {
        Names known = names.get(track.number());
        interned.clear();
        event.clear().number(9, type)
                .number(3, intern(known.categories, 1, category))
                .number(10, intern(known.events, 2, name));
        for (int at = 0; at < details.size(); at++) {
            long key = intern(known.keys, 3, details.key(at));
            long text = details.value(at) instanceof String value ? intern(known.texts, 29, value) : 0;
            inner.clear().number(1, key);
            if (text != 0) {
                inner.number(17, text);
            } else {
                inner.number(4, (Long) details.value(at));
            }
            event.message(4, inner);
        }
        write(track, nanos);
    }

    private long intern(Map<String, Long> known, int field, String text) {
        Long number = known.get(text);
        if (number == null) {
            number = known.size() + 1L;
            known.put(text, number);
            interned.message(field, inner.clear().number(1, number).text(2, text));
        }
        return number;
    }

    private void write(Track track, long nanos) throws IOException {
        packet.clear().number(8, nanos).number(10, sequence(track)).number(13, NEEDS_STATE).message(11, event);
        if (!interned.isEmpty()) {
            packet.message(12, interned);
            interned.clear();
        }
        write();
    }

    private void write() throws IOException {
        trace.clear().message(1, packet).writeTo(out);
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    /// The names that were written in a sequence already.
    private static final class Names {
        private final Map<String, Long> categories = new HashMap<>();
        private final Map<String, Long> events = new HashMap<>();
        private final Map<String, Long> keys = new HashMap<>();
        private final Map<String, Long> texts = new HashMap<>();
    }
}
