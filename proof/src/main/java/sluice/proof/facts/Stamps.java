package sluice.proof.facts;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;

/// When pieces of work ran on the GPU, by its own clock, in nanoseconds, in the order of their begins.
public record Stamps(long[] begins, long[] ends) {
    private static final double LONGER = 1.3;

    /// Reads what the probe's `StampRing` saved.
    public static Stamps read(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            LongBuffer words = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size())
                    .order(ByteOrder.nativeOrder()).asLongBuffer();
            long[] begins = new long[words.remaining() / 2];
            long[] ends = new long[begins.length];
            for (int i = 0; i < begins.length; i++) {
                begins[i] = words.get(2 * i);
                ends[i] = words.get(2 * i + 1);
            }
            return new Stamps(begins, ends);
        }
    }

    public int count() {
        return begins.length;
    }

    /// From the begin of each first to the end of each second: what runs between two stamps. The program may have waited between the three
    /// calls. So one that is much longer than most counts as long as they are.
    public Stamps brackets() {
        int pairs = count() / 2;
        long[] lengths = new long[pairs];
        for (int i = 0; i < pairs; i++) {
            lengths[i] = ends[2 * i + 1] - begins[2 * i];
        }
        long[] sorted = lengths.clone();
        Arrays.sort(sorted);
        long typical = pairs == 0 ? 0 : sorted[pairs / 4];
        long[] from = new long[pairs];
        long[] to = new long[pairs];
        for (int i = 0; i < pairs; i++) {
            to[i] = ends[2 * i + 1];
            from[i] = to[i] - (lengths[i] > typical * LONGER ? typical : lengths[i]);
        }
        return new Stamps(from, to);
    }

    /// Kernels of several streams take their places nearly, but not always, in the order of their begins.
    public Stamps sorted() {
        for (int i = 1; i < count(); i++) {
            long begin = begins[i];
            long end = ends[i];
            int at = i;
            for (; at > 0 && begins[at - 1] > begin; at--) {
                begins[at] = begins[at - 1];
                ends[at] = ends[at - 1];
            }
            begins[at] = begin;
            ends[at] = end;
        }
        return this;
    }

    /// Those that began in this time.
    public Stamps between(long from, long to) {
        int first = 0;
        int last = count();
        while (first < last && begins[first] < from) {
            first++;
        }
        while (last > first && begins[last - 1] >= to) {
            last--;
        }
        return new Stamps(Arrays.copyOfRange(begins, first, last), Arrays.copyOfRange(ends, first, last));
    }

    /// Both together, still in order.
    public Stamps and(Stamps other) {
        long[] from = new long[count() + other.count()];
        long[] to = new long[from.length];
        int mine = 0;
        int its = 0;
        for (int i = 0; i < from.length; i++) {
            boolean own = its == other.count() || mine < count() && begins[mine] <= other.begins[its];
            from[i] = own ? begins[mine] : other.begins[its];
            to[i] = own ? ends[mine++] : other.ends[its++];
        }
        return new Stamps(from, to);
    }
}
