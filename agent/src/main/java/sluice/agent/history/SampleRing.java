package sluice.agent.history;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.function.Consumer;

/// A part of a file that holds the last samples. There is no pointer to the newest sample. Samples are numbered, and a reader finds the
/// highest number. So SIGKILL at any moment costs at most the sample that was being written.
final class SampleRing {
    private static final int CHUNK_SAMPLES = 1024;

    private final FileChannel file;
    private final long from;
    private final long capacity;
    private long next = 1;

    SampleRing(FileChannel file, long from, long bytes) throws IOException {
        this.file = file;
        this.from = from;
        capacity = bytes / Sample.BYTES;
        scan((number, sample) -> next = Math.max(next, number + 1));
    }

    private interface Visitor {
        void visit(long number, Sample sample);
    }

    void append(List<Sample> samples) throws IOException {
        for (int at = 0; at < samples.size(); ) {
            int room = (int) Math.min(samples.size() - at, capacity - next % capacity);
            ByteBuffer bytes = ByteBuffer.allocate(room * Sample.BYTES);
            long position = from + next % capacity * Sample.BYTES;
            for (int end = at + room; at < end; at++) {
                samples.get(at).write(bytes, next++);
            }
            bytes.flip();
            while (bytes.hasRemaining()) {
                position += file.write(bytes, position);
            }
        }
    }

    /// All samples that are whole, in no order.
    void read(Consumer<Sample> reader) throws IOException {
        scan((number, sample) -> reader.accept(sample));
    }

    private void scan(Visitor visitor) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(CHUNK_SAMPLES * Sample.BYTES);
        for (long at = 0; at < capacity; at += CHUNK_SAMPLES) {
            bytes.clear().limit((int) Math.min(CHUNK_SAMPLES, capacity - at) * Sample.BYTES);
            int read = file.read(bytes, from + at * Sample.BYTES);
            if (read <= 0) {
                return;
            }
            for (int sample = 0; sample + Sample.BYTES <= read; sample += Sample.BYTES) {
                Sample whole = Sample.read(bytes, sample);
                if (whole != null) {
                    visitor.visit(Sample.number(bytes, sample), whole);
                }
            }
        }
    }
}
