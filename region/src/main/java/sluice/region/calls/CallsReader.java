package sluice.region.calls;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import sluice.linux.UnusableFileException;
import sluice.region.Region;
import sluice.region.RegionException;
import sluice.region.RegionFile;
import sluice.region.layout.CallTable;
import sluice.region.layout.CallView;
import sluice.region.layout.HeaderView;
import sluice.region.layout.LayoutPlaces;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.TrafficView;
import sluice.region.place.RuntimeFile;

/// Reads the counters of one region after the other. They are copied, not mapped: mapping a file, touching its pages and unmapping it for
/// a single read costs more than copying the few stripes in use.
final class CallsReader {
    /// The stripe of all threads without a stripe of their own. A thread counts in any other stripe only as its writer, and the word of
    /// the writer never becomes 0 again.
    private static final int SHARED_STRIPE = 0;
    private static final int STRIPES = RegionLayout.TRAFFIC_COUNT;
    private static final int STRIPE_CALLS = RegionLayout.CALL_COUNT / STRIPES;

    /// As the file, where something was read.
    private MemorySegment copy = Arena.ofAuto().allocate(RegionLayout.REGION_BYTES, Long.BYTES);
    private ByteBuffer bytes = copy.asByteBuffer();
    private LayoutPlaces places = RegionLayout.PLACES;
    private long[] words = {};

    /// The counters of the region in a file.
    synchronized TenantCalls read(Path file) {
        try (FileChannel region = RuntimeFile.read(file)) {
            read(region, file, 0, RegionLayout.PAGE_BYTES);
            Path ledger = RegionFile.ledger(file);
            boolean split = region.size() == RegionLayout.PAGE_BYTES && Files.exists(ledger, LinkOption.NOFOLLOW_LINKS);
            if (!split) {
                check(file, region.size());
                return counters(region, file);
            }
            try (FileChannel rest = RuntimeFile.read(ledger)) {
                check(file, rest.size());
                return counters(rest, ledger);
            }
        } catch (UnusableFileException e) {
            throw new RegionException.NotARegion(file);
        } catch (IOException e) {
            throw Region.cannotOpen(file, e);
        }
    }

    /// The records of a file of another revision may lie beyond where ours end.
    private void check(Path file, long size) {
        places = Region.check(file, copy, size);
        long end = Math.max(places.offset(RegionLayout.TRAFFIC_PLACE, STRIPES), places.offset(RegionLayout.CALL_PLACE, RegionLayout.CALL_COUNT));
        if (end > copy.byteSize()) {
            MemorySegment larger = Arena.ofAuto().allocate(end, Long.BYTES);
            MemorySegment.copy(copy, 0, larger, 0, RegionLayout.PAGE_BYTES);
            copy = larger;
            bytes = copy.asByteBuffer();
        }
    }

    private void read(FileChannel channel, Path file, long from, long length) throws IOException {
        bytes.limit((int) (from + length)).position((int) from);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, bytes.position()) < 0) {
                throw new RegionException.Truncated(file, channel.size(), RegionLayout.REGION_BYTES);
            }
        }
    }

    private TenantCalls counters(FileChannel channel, Path file) throws IOException {
        if (HeaderView.of(copy).entriesDigest() != CallTable.DIGEST) {
            return new TenantCalls(false, System.nanoTime(), List.of(), Traffic.NONE);
        }
        read(channel, file, places.offset(RegionLayout.TRAFFIC_PLACE, 0), (long) STRIPES * places.bytes(RegionLayout.TRAFFIC_PLACE));
        CallCount[] counts = new CallCount[CallTable.NAMES.size()];
        Traffic traffic = Traffic.NONE;
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            TrafficView view = TrafficView.at(copy, places, stripe);
            traffic = traffic.plus(view);
            if (stripe == SHARED_STRIPE || view.writer() != 0) {
                long from = places.offset(RegionLayout.CALL_PLACE, (long) stripe * STRIPE_CALLS);
                int length = counts.length * places.bytes(RegionLayout.CALL_PLACE) / Long.BYTES;
                words = words.length == length ? words : new long[length];
                read(channel, file, from, (long) words.length * Long.BYTES);
                MemorySegment.copy(copy, ValueLayout.JAVA_LONG, from, words, 0, words.length);
                add(stripe, counts);
            }
        }
        return new TenantCalls(true, System.nanoTime(), Arrays.stream(counts).filter(Objects::nonNull).toList(), traffic);
    }

    /// Most functions are never called.
    private void add(int stripe, CallCount[] counts) {
        int callWords = words.length / counts.length;
        for (int entry = 0; entry < counts.length; entry++) {
            if (words[entry * callWords] > 0) {
                CallCount before = counts[entry] != null ? counts[entry]
                        : new CallCount(CallTable.NAMES.get(entry), CallKind.of(entry), 0, 0, 0, 0, 0, 0);
                counts[entry] = before.plus(CallView.at(copy, places, stripe * STRIPE_CALLS + entry));
            }
        }
    }
}
