package sluice.agent.history;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/// Maps series of the history to places in the file. A new series takes the place of the oldest series that is not in use. It gets a new
/// number, so old samples of that place match no series.
final class SeriesTable {
    /// @param tenant empty for the GPU itself
    record Series(long uid, String uuid, int gpu, long createdNanos, String tenant) {}

    static final int PLACES = 1024;
    private static final int ENTRY_BYTES = 256;
    static final long BYTES = (long) PLACES * ENTRY_BYTES;
    private static final String BETWEEN = "\t";

    private final FileChannel file;
    private final long from;
    private final Map<Integer, Series> byNumber = new HashMap<>();
    private final Map<Series, Integer> numbers = new HashMap<>();
    private final Series[] byPlace = new Series[PLACES];
    private int next = 1;

    SeriesTable(FileChannel file, long from) throws IOException {
        this.file = file;
        this.from = from;
        ByteBuffer bytes = ByteBuffer.allocate((int) BYTES);
        int read = file.read(bytes, from);
        for (int at = 0; at + ENTRY_BYTES <= read; at += ENTRY_BYTES) {
            read(bytes, at);
        }
    }

    private void read(ByteBuffer bytes, int at) {
        int number = bytes.getInt(at);
        int length = bytes.getInt(at + Integer.BYTES);
        if (number <= 0 || number % PLACES != at / ENTRY_BYTES || length <= 0 || length > ENTRY_BYTES - 2 * Integer.BYTES) {
            return;
        }
        String[] fields = new String(bytes.array(), at + 2 * Integer.BYTES, length, StandardCharsets.UTF_8).split(BETWEEN, 5);
        try {
            put(number, new Series(Long.parseLong(fields[0]), fields[1], Integer.parseInt(fields[2]), Long.parseLong(fields[3]), fields[4]));
            next = Math.max(next, number + 1);
        } catch (RuntimeException e) {
            // Not written in full; its number is used again.
        }
    }

    private void put(int number, Series series) {
        byNumber.put(number, series);
        byPlace[number % PLACES] = series;
        numbers.put(series, number);
    }

    /// The series with a place.
    Set<Series> known() {
        return numbers.keySet();
    }

    Map<Integer, Series> copy() {
        return Map.copyOf(byNumber);
    }

    /// @param inUse fewer than there are places, this one among them
    int number(Series series, Set<Series> inUse) throws IOException {
        Integer known = numbers.get(series);
        if (known != null) {
            return known;
        }
        while (inUse.contains(byPlace[next % PLACES])) {
            next++;
        }
        Series old = byPlace[next % PLACES];
        if (old != null) {
            byNumber.remove(numbers.remove(old));
        }
        byte[] text = String.join(BETWEEN, Long.toString(series.uid()), series.uuid(), Integer.toString(series.gpu()),
                Long.toString(series.createdNanos()), series.tenant()).getBytes(StandardCharsets.UTF_8);
        byte[] kept = Arrays.copyOf(text, Math.min(text.length, ENTRY_BYTES - 2 * Integer.BYTES));
        ByteBuffer entry = ByteBuffer.allocate(ENTRY_BYTES).putInt(next).putInt(kept.length).put(kept);
        file.write(entry.clear(), from + (long) (next % PLACES) * ENTRY_BYTES);
        put(next, series);
        return next++;
    }
}
