package sluice.agent.reservoir;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import sluice.linux.Descriptor;
import sluice.linux.MemoryPages;
import sluice.linux.Pidfd;
import sluice.linux.SharedMemory;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// Host memory of one process. Its size is sealed, so no process that uses it can be killed by a truncation. The agent makes pages in it,
/// and takes them back only when the process has ended: it cannot know which pages a live process uses.
final class ReservoirFile {
    private static final String NAME = "sluice-reservoir";

    private final Pidfd process;
    private final long uid;
    private final String tenant;
    private final Descriptor memory;
    private final long bytes;
    private final AtomicInteger filling = new AtomicInteger();
    private volatile long granted;
    private volatile State state = State.USED;

    private enum State {
        USED,
        /// The process has ended: the contents are no longer needed.
        ENDED,
        /// The agent ends before the process.
        LEFT
    }

    /// @param bytes how long it is; only pages that are made take memory
    ReservoirFile(Identity process, long uid, String tenant, long bytes) {
        this.process = watched(process);
        this.uid = uid;
        this.tenant = tenant;
        this.bytes = bytes;
        try {
            memory = SharedMemory.create(NAME, bytes);
            SharedMemory.sealSize(memory);
        } catch (IOException e) {
            this.process.close();
            throw new SluiceException("cannot make host memory for a job (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// Uses a pidfd, because a file of `/proc` that cannot be read proves nothing: pages of a live process must never be taken.
    private static Pidfd watched(Identity process) {
        Pidfd opened = Pidfd.open(process.pid()).orElseThrow(() -> new SluiceException("the process has ended, or cannot be watched"));
        if (!process.isAlive()) {
            opened.close();
            throw new SluiceException("the process has ended");
        }
        return opened;
    }

    Pidfd process() {
        return process;
    }

    long uid() {
        return uid;
    }

    String tenant() {
        return tenant;
    }

    int descriptor() {
        return memory.number();
    }

    long number() {
        try {
            return memory.status().inode();
        } catch (IOException e) {
            return 0;
        }
    }

    long grantedBytes() {
        return granted;
    }

    /// The bytes of its present pages, made by the agent or by the process.
    long takenBytes() {
        try {
            return state == State.USED ? memory.status().taken() : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    boolean isFilling() {
        return filling.get() > 0;
    }

    void grant(long bytes) {
        granted = bytes;
    }

    /// The process has given pages back, or never needed them.
    void lowerGrant() {
        if (!isFilling()) {
            granted = Math.min(granted, takenBytes());
        }
    }

    /// Makes all granted pages, as long as the process needs them.
    ///
    /// @param wantedBytes the present need of the process; when a page is made, it may be less than was granted
    void fill(Filler filler, LongSupplier wantedBytes) {
        for (long at = 0; at < granted; at += Filler.PIECE_BYTES) {
            long from = at;
            filling.incrementAndGet();
            if (!filler.add(() -> piece(from, wantedBytes))) {
                filling.decrementAndGet();
            }
        }
    }

    private boolean isWanted(long from, long length, LongSupplier wantedBytes) {
        return length > 0 && state == State.USED && !MemoryPages.areThere(memory, from, length) && wantedBytes.getAsLong() > from;
    }

    private void piece(long from, LongSupplier wantedBytes) {
        long length = Math.min(Filler.PIECE_BYTES, granted - from);
        try {
            if (isWanted(from, length, wantedBytes)) {
                MemoryPages.make(memory, from, length);
            }
        } catch (IOException e) {
            // The host has no memory for it: the process tries, too, and reports that.
        } finally {
            filling.decrementAndGet();
            finish();
        }
    }

    /// Not while pages are made: the number of the descriptor would be another file's.
    private synchronized void finish() {
        if (state == State.USED || isFilling()) {
            return;
        }
        try {
            if (state == State.ENDED) {
                MemoryPages.giveBack(memory, bytes);
            }
        } catch (IOException e) {
            // It goes with the last descriptor.
        }
        memory.close();
        process.close();
    }

    /// The process has ended, or has another user now. Other processes may have the memory mapped; its pages are removed for them, too.
    void end() {
        state = State.ENDED;
        granted = 0;
        finish();
    }

    /// This agent ends. The process keeps the memory with its contents.
    void leave() {
        state = State.LEFT;
        finish();
    }
}
