package sluice.region;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sluice.linux.FileLocks;
import sluice.region.layout.AccountView;
import sluice.region.layout.ErrorView;
import sluice.region.layout.GpuView;
import sluice.region.layout.HeaderView;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SlotView;
import sluice.region.limits.ComputeCaps;
import sluice.region.limits.LimitFields;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.pause.Command;
import sluice.region.pause.ProcessPause;
import sluice.region.pause.TimeSlices;
import sluice.region.place.Identity;
import sluice.region.place.Life;
import sluice.region.place.Printable;
import sluice.region.place.Processes;

/// Decodes a region. Fields change while they are read: each is valid by itself, sums may be one call behind.
public final class TenantReader {
    private static final long READY = 1;
    /// A tenant's first process attaches within this time.
    private static final long ATTACH_NANOS = 600_000_000_000L;
    /// The number of slots that are read together.
    private static final int OWNERS = 64;

    private final Region region;
    private final Processes known;
    private final long pidNamespace = pidNamespace();
    private final int slotWords;
    private final long[] words;
    /// Made when it is first needed: its method handles take milliseconds.
    private Life life;

    TenantReader(Region region) {
        this(region, Processes.BY_PROC);
    }

    TenantReader(Region region, Processes known) {
        this.region = region;
        this.known = known;
        slotWords = region.slotWords();
        words = new long[OWNERS * slotWords];
    }

    Tenant read() {
        try {
            return tenant();
        } finally {
            if (life != null) {
                life.close();
                life = null;
            }
        }
    }

    private Tenant tenant() {
        HeaderView header = region.header();
        Limits limits = LimitFields.read(header, region.limits());
        List<Integer> entries = gpuEntries();
        List<TenantProcess> processes = processes(entries);
        List<TenantGpu> gpus = new ArrayList<>();
        for (int entry : entries) {
            gpus.add(gpu(entry, limits.memory(), limits.compute().caps(), processes));
        }
        Identity root = new Identity(header.rootIdentity());
        List<ProcessPause> live = processes.stream().filter(TenantProcess::alive).map(TenantProcess::pause).toList();
        boolean lives = !live.isEmpty() || rootLives(root, processes);
        Command asked = new Command(region.limits().command(), region.limits().commandNanos());
        TenantState state = lives ? TenantState.of(!gpus.isEmpty(), asked, live) : TenantState.ENDED;
        return new Tenant(region.file(), Printable.of(header.tenant()), Printable.of(header.command()), state, asked, root, header.createdNanos(),
                header.uid(), region.limits().epoch(), limits, List.copyOf(gpus), List.copyOf(processes), errors());
    }

    /// A reader cannot know whether a process of another namespace lives. Such a tenant lives by its slots alone, once it has had a slot.
    private boolean rootLives(Identity root, List<TenantProcess> processes) {
        HeaderView header = region.header();
        if (!isElsewhere(header.pidNamespace())) {
            return known.isAlive(root, 0);
        }
        long age = System.currentTimeMillis() * 1_000_000 - header.createdNanos();
        return processes.isEmpty() && region.gpu(0).owner() == 0 && age < ATTACH_NANOS;
    }

    private boolean isElsewhere(long namespace) {
        return namespace != 0 && pidNamespace != 0 && namespace != pidNamespace;
    }

    private List<Integer> gpuEntries() {
        List<Integer> entries = new ArrayList<>();
        for (int entry = 0; entry < RegionLayout.GPU_COUNT; entry++) {
            if (region.gpu(entry).owner() == READY) {
                entries.add(entry);
            }
        }
        return entries;
    }

    private TenantGpu gpu(int entry, MemoryLimits limits, ComputeCaps caps, List<TenantProcess> processes) {
        GpuView gpu = region.gpu(entry);
        long used = 0;
        MemoryUses uses = MemoryUses.NONE;
        for (TenantProcess process : processes) {
            used += process.alive() ? process.chargedBytes(entry) : 0;
            uses = process.alive() ? uses.plus(process.uses(entry)) : uses;
        }
        return new TenantGpu(entry, gpu.index(), TenantGpu.uuid(gpu.uuid()), Printable.of(gpu.name()), gpu.granularityBytes(),
                gpu.totalBytes(), used, uses, limits.bytes(gpu.index()), gpu.peakBytes(), gpu.refusedCalls(), gpu.refusedBytes(),
                GpuTime.of(region.share(entry), region.submittedCalls(entry), caps.permille(gpu.index())));
    }

    private List<TenantProcess> processes(List<Integer> gpuEntries) {
        List<TenantProcess> processes = new ArrayList<>();
        for (int first = 0; first < RegionLayout.SLOT_COUNT; first += OWNERS) {
            region.copySlots(first, words);
            for (int at = 0; at < OWNERS; at++) {
                long owner = words[at * slotWords] == 0 ? 0 : region.slot(first + at).owner();
                if (owner > 0) {
                    processes.add(process(first + at, owner, gpuEntries));
                }
            }
        }
        return processes;
    }

    private TenantProcess process(int slot, long owner, List<Integer> gpuEntries) {
        SlotView view = region.slot(slot);
        boolean elsewhere = isElsewhere(view.pidNamespace());
        boolean seen = elsewhere && view.seenIdentity() > 0 && region.header().pidNamespace() == pidNamespace;
        Identity process = seen ? new Identity(view.seenIdentity()) : Identity.ofOwner(owner);
        boolean hidden = elsewhere && !seen;
        List<TenantProcess.Charge> charges = new ArrayList<>();
        for (int entry : gpuEntries) {
            AccountView account = region.account(slot, entry);
            charges.add(new TenantProcess.Charge(entry, account.chargedBytes(), account.inFlightBytes(),
                    MemoryUses.of(account), account.allocations(), account.allocationsTotal()));
        }
        boolean alive = hidden ? isHeld(slot, owner) : known.isAlive(process, view.image());
        return new TenantProcess(slot, process, alive, view.attachedNanos(), view.calls(),
                view.passedCalls(), List.copyOf(charges), ProcessPause.of(view, region.pause(slot)), TimeSlices.of(view), hidden || !region.mayShow(process) ? "" : known.commandLine(process));
    }

    /// A process without a lock counts as alive.
    private boolean isHeld(int slot, long owner) {
        return (owner & Identity.SIGNED) == 0
                || life().of(region.slotPlace(slot)) != FileLocks.State.FREE;
    }

    /// The locks are in the file with the slots.
    private Life life() {
        if (life == null) {
            Path file = region.file();
            life = new Life(Region.isSplit(file) ? Region.ledger(file) : file);
        }
        return life;
    }

    private List<TenantError> errors() {
        List<TenantError> errors = new ArrayList<>();
        for (int entry = 0; entry < RegionLayout.ERROR_COUNT; entry++) {
            ErrorView error = region.error(entry);
            if (error.state() == READY) {
                errors.add(new TenantError(Printable.of(error.text()), error.count(), error.firstNanos(), error.lastNanos(), error.pid()));
            }
        }
        return List.copyOf(errors);
    }

    /// The inode that stands for this process's pid namespace; 0 when it cannot be known. A process never leaves its own.
    public static long pidNamespace() {
        return OwnNamespace.INODE;
    }

    private static final class OwnNamespace {
        private static final long INODE = inode();

        private static long inode() {
            try {
                return (Long) Files.getAttribute(Path.of("/proc/self/ns/pid"), "unix:ino");
            } catch (IOException e) {
                return 0;
            }
        }
    }
}
