package sluice.region;

import static sluice.region.layout.RegionLayout.*;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import sluice.region.layout.CallTable;
import sluice.region.limits.LimitFields;

/// Page 0 of a new region: header and limits.
///
/// It is filled in as a plain buffer, not through the views: the method handles behind those take several milliseconds
/// to set up, and the start of every job waits for this.
final class FirstPage implements LimitFields.Page {
    private static final int COMMAND_BYTES = 512;

    private final ByteBuffer page = ByteBuffer.allocateDirect(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);

    /// @param pidNamespace in which the draft's root is numbered, and the processes of the tenant for an agent; 0: unknown
    FirstPage(RegionDraft draft, int uid, long pidNamespace) {
        page.putLong(HEADER_MAGIC_OFFSET, MAGIC);
        page.putInt(HEADER_PAGE_BYTES_OFFSET, PAGE_BYTES);
        page.putLong(HEADER_REGION_BYTES_OFFSET, REGION_BYTES);
        page.putLong(HEADER_CREATED_NANOS_OFFSET, nowNanos());
        page.putLong(HEADER_ROOT_IDENTITY_OFFSET, draft.root().word());
        page.putLong(HEADER_PID_NAMESPACE_OFFSET, pidNamespace);
        page.putInt(HEADER_UID_OFFSET, uid);
        text(HEADER_TENANT_OFFSET, HEADER_COMMAND_OFFSET, draft.tenant());
        text(HEADER_COMMAND_OFFSET, HEADER_COMMAND_OFFSET + COMMAND_BYTES, draft.command());
        page.putLong(HEADER_ENTRIES_DIGEST_OFFSET, CallTable.DIGEST);
        FileFormat.write(page, PLACES, REVISION, FEATURES, FEATURES_REQUIRED, FEATURE_NAMES);
        LimitFields.write(draft.limits(), this);
        trace(draft.trace());
    }

    @Override
    public void put(int offset, int value) {
        page.putInt(offset, value);
    }

    @Override
    public void put(int offset, long value) {
        page.putLong(offset, value);
    }

    private void trace(TraceRequest trace) {
        page.putInt(LIMITS_TRACE_OFFSET, trace.mode());
        page.putInt(LIMITS_TRACE_EVENTS_OFFSET, trace.events());
        page.putInt(LIMITS_TRACE_GENERATION_OFFSET, trace.mode() == 0 ? 0 : 1);
        page.putLong(LIMITS_TRACE_UNTIL_NANOS_OFFSET, trace.untilNanos());
        text(LIMITS_TRACE_DIRECTORY_OFFSET, LIMITS_TRACE_DIRECTORY_OFFSET + TraceRequest.DIRECTORY_BYTES + 1, trace.directory());
    }

    /// As exact as the clock, because the time is also the tenant's key on boards.
    private static long nowNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }

    /// The page while it is being written.
    ByteBuffer unfinished() {
        return page.clear();
    }

    /// The page with the word that says that the region is complete.
    ByteBuffer finished() {
        return page.putInt(HEADER_LAYOUT_OFFSET, LAYOUT).clear();
    }

    /// Cuts the text to fit, between two characters, and leaves a NUL at its end.
    private void text(int from, int end, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, end - from - 1);
        while (length < bytes.length && length > 0 && (bytes[length] & 0xc0) == 0x80) {
            length--;
        }
        page.put(from, bytes, 0, length);
    }
}
