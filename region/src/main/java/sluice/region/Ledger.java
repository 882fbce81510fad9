package sluice.region;

import sluice.region.layout.AccountView;
import sluice.region.layout.GpuView;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SlotView;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// The part of the ledger that a Java process needs to take part in a region: a slot of its own, and charges in it.
/// The library does the same in C; together they must never pass a quota.
public final class Ledger implements AutoCloseable {
    private final Region region;
    private final int slot;

    private Ledger(Region region, int slot) {
        this.region = region;
        this.slot = slot;
    }

    /// Takes a free slot for a process. The region must be open for writing.
    public static Ledger claim(Region region, Identity owner) {
        for (int slot = 0; slot < RegionLayout.SLOT_COUNT; slot++) {
            SlotView view = region.slot(slot);
            if (view.owner() == 0 && view.compareAndSetOwner(0, owner.word())) {
                view.attachedNanos(System.currentTimeMillis() * 1_000_000);
                return new Ledger(region, slot);
            }
        }
        throw new SluiceException("region " + region.file() + " has no free slot; " + RegionLayout.SLOT_COUNT
                + " processes of one tenant are the most");
    }

    public int slot() {
        return slot;
    }

    /// First adds bytes to the account, then sums. If two processes race, at least one sees both charges.
    public boolean reserve(int gpuEntry, long bytes, long limitBytes) {
        AccountView account = region.account(slot, gpuEntry);
        raiseSlots(region.gpu(gpuEntry));
        account.addChargedBytes(bytes);
        if (limitBytes != 0 && sum(gpuEntry) > limitBytes) {
            account.addChargedBytes(-bytes);
            return false;
        }
        return true;
    }

    private void raiseSlots(GpuView gpu) {
        long seen = gpu.slots();
        while (seen <= slot && !gpu.compareAndSetSlots(seen, slot + 1L)) {
            seen = gpu.slots();
        }
    }

    public void refund(int gpuEntry, long bytes) {
        region.account(slot, gpuEntry).addChargedBytes(-bytes);
    }

    /// What all live processes hold on a GPU.
    public long sum(int gpuEntry) {
        long sum = 0;
        for (int other = 0; other < RegionLayout.SLOT_COUNT; other++) {
            long owner = region.slot(other).owner();
            long charged = owner > 0 ? region.account(other, gpuEntry).chargedBytes() : 0;
            if (charged != 0 && (other == slot || Identity.ofOwner(owner).isAlive(region.slot(other).image()))) {
                sum += charged;
            }
        }
        return sum;
    }

    /// Empties the accounts, then frees the slot.
    @Override
    public void close() {
        for (int entry = 0; entry < RegionLayout.GPU_COUNT; entry++) {
            AccountView account = region.account(slot, entry);
            account.addChargedBytes(-account.chargedBytes());
        }
        region.slot(slot).owner(0);
    }
}
