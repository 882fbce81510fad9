package sluice.trace.read;

import static sluice.region.layout.TraceLayout.*;

import java.io.IOException;
import java.nio.ByteBuffer;

/// Reads the events of one ring in the order of their ends: those in order one after the other, the late ones in between.
final class RingReader {
    private static final int BLOCK_EVENTS = 512;
    private static final long NONE = Long.MAX_VALUE;

    private final RingFile ring;
    private final TickRange range;
    private final long[] late;
    private final long[] lateByEnd;
    private final ByteBuffer block = RingFile.buffer(BLOCK_EVENTS);
    private final ByteBuffer single = RingFile.buffer(1);
    private long blockFirst;
    private int blockEvents;
    private long number;
    private int lateAt;
    private int lateByEndAt;
    private long endTicks;
    private long lateEndTicks;

    RingReader(RingScan scan) throws IOException {
        ring = scan.ring();
        range = scan.range();
        late = scan.late();
        lateByEnd = scan.lateByEnd();
        number = ring.first() - 1;
        lateByEndAt = -1;
        step();
        stepLate();
    }

    /// End of the next event; [Long#MAX_VALUE] when there is none.
    long nextTicks() {
        return Math.min(endTicks, lateEndTicks);
    }

    boolean isEmpty() {
        return endTicks == NONE && lateEndTicks == NONE;
    }

    /// Copies the words of the next event, and goes on.
    void next(long[] words) throws IOException {
        boolean isLate = lateEndTicks < endTicks;
        ByteBuffer from = isLate ? single : block;
        int at = isLate ? 0 : (int) (number - blockFirst) * EVENT_BYTES;
        for (int word = 0; word < RingEvent.WORDS; word++) {
            words[word] = from.getLong(at + word * Long.BYTES);
        }
        if (isLate) {
            stepLate();
        } else {
            step();
        }
    }

    private void step() throws IOException {
        for (number++; number < ring.end(); number++) {
            if (number >= blockFirst + blockEvents) {
                blockFirst = number;
                blockEvents = ring.read(number, block);
            }
            int at = (int) (number - blockFirst) * EVENT_BYTES;
            if (lateAt < late.length && late[lateAt] == number) {
                lateAt++;
            } else if (isEvent(at)) {
                endTicks = block.getLong(at + Long.BYTES * RingEvent.END);
                return;
            }
        }
        endTicks = NONE;
    }

    private boolean isEvent(int at) {
        int kind = RingEvent.kind(block.getLong(at + Long.BYTES * RingEvent.WHAT));
        return kind != KIND_CLOCK && kind != RingEvent.NO_KIND
                && range.holds(block.getLong(at + Long.BYTES * RingEvent.BEGIN), block.getLong(at + Long.BYTES * RingEvent.END));
    }

    private void stepLate() throws IOException {
        if (++lateByEndAt < lateByEnd.length) {
            ring.read(lateByEnd[lateByEndAt], single);
            lateEndTicks = single.getLong(Long.BYTES * RingEvent.END);
        } else {
            lateEndTicks = NONE;
        }
    }
}
