package sluice.region;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import sluice.linux.Descriptor;
import sluice.linux.Futex;
import sluice.region.layout.AccountView;
import sluice.region.layout.CallView;
import sluice.region.layout.ErrorView;
import sluice.region.layout.FormatView;
import sluice.region.layout.GpuView;
import sluice.region.layout.HeaderView;
import sluice.region.layout.LayoutPlaces;
import sluice.region.layout.LimitsView;
import sluice.region.layout.PauseView;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.ShareView;
import sluice.region.layout.SlotView;
import sluice.region.layout.SubmissionView;
import sluice.region.layout.TrafficView;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.RuntimeFile;
import sluice.region.place.SluiceException;

/// The mapped file of one tenant. `spec/region.abi` says what each field means, and which process may write it when.
public final class Region implements AutoCloseable {
    private static final int LAYOUT_END = 12;

    private final MappedFile mapped;
    private final MemorySegment segment;
    private final LayoutPlaces places;

    private Region(MappedFile mapped, LayoutPlaces places) {
        this.mapped = mapped;
        this.places = places;
        segment = mapped.segment();
    }

    /// Makes the region of a new tenant, in the place of an ended one with the same name.
    public static Path create(RuntimeDirectory directory, RegionDraft draft) {
        return RegionFile.create(directory, draft);
    }

    /// Makes the region of a user's new tenant in two files. The tenant may write one of them; the other has the limits. The caller is the
    /// only process that makes such regions in the folder.
    public static Path createSplit(RuntimeDirectory directory, RegionDraft draft, long uid) {
        return createSplit(directory, draft, uid, draft.tenant());
    }

    /// The same in a file of another name than the tenant's: several users may have tenants of one name.
    public static Path createSplit(RuntimeDirectory directory, RegionDraft draft, long uid, String file) {
        return RegionFile.createSplit(directory, draft, (int) uid, file);
    }

    /// Whether a region is in two files: then its tenant cannot change its limits.
    public static boolean isSplit(Path file) {
        try {
            return Files.size(file) == RegionLayout.PAGE_BYTES && Files.isRegularFile(ledger(file), LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return false;
        }
    }

    /// The file with all but page 0 of a region in two.
    public static Path ledger(Path file) {
        return RegionFile.ledger(file);
    }

    /// Opens a region for a tool that looks.
    public static Region openReadOnly(Path file) {
        try {
            return checked(MappedFile.readOnly(file));
        } catch (IOException e) {
            throw cannotOpen(file, e);
        }
    }

    /// The same for a short look: only the thread that calls may use and close it.
    static Region openHere(Path file, MappedFile.Opener opener) {
        try {
            return checked(MappedFile.readOnlyHere(file, opener));
        } catch (IOException e) {
            throw cannotOpen(file, e);
        }
    }

    /// Opens a region for a process that takes part in it, or for a tool that changes its limits.
    public static Region openReadWrite(Path file) {
        try {
            return checked(MappedFile.readWrite(file));
        } catch (IOException e) {
            throw cannotOpen(file, e);
        }
    }

    /// Opens the ledger of a region in two files, to hand it to a process of the tenant.
    public static Descriptor openLedger(Path file) {
        try {
            return RuntimeFile.open(ledger(file), true);
        } catch (IOException e) {
            throw cannotOpen(file, e);
        }
    }

    private static Region checked(MappedFile mapped) {
        try {
            return new Region(mapped, check(mapped.file(), mapped.segment(), mapped.segment().byteSize()));
        } catch (SluiceException e) {
            mapped.close();
            throw e;
        }
    }

    public static SluiceException cannotOpen(Path file, IOException e) {
        return e instanceof NoSuchFileException
                ? new SluiceException("there is no region " + file + "; 'sluice ps --all' lists the tenants", e)
                : new SluiceException("cannot open region " + file + " (" + SluiceException.reason(e)
                        + "); only the user who owns the tenant can", e);
    }

    /// @param segment the first page, or more
    /// @param bytes   how long the file is
    /// @return where its records lie
    public static LayoutPlaces check(Path file, MemorySegment segment, long bytes) {
        if (bytes < Long.BYTES || segment.get(ValueLayout.JAVA_LONG, 0) != RegionLayout.MAGIC) {
            throw new RegionException.NotARegion(file);
        }
        if (bytes < LAYOUT_END) {
            throw new RegionException.Truncated(file, bytes, RegionLayout.REGION_BYTES);
        }
        int layout = segment.get(ValueLayout.JAVA_INT, Long.BYTES);
        if (layout != RegionLayout.LAYOUT) {
            throw new RegionException.LayoutMismatch(file, layout);
        }
        if (bytes < RegionLayout.REGION_BYTES || HeaderView.of(segment).regionBytes() > bytes) {
            throw new RegionException.Truncated(file, bytes, Math.max(RegionLayout.REGION_BYTES, HeaderView.of(segment).regionBytes()));
        }
        FileFormat.REGION.problem(segment).ifPresent(problem -> {
            throw new RegionException.UnknownFeature(file, problem);
        });
        return FileFormat.REGION.places(segment, bytes).orElseThrow(() -> new RegionException.Damaged(file));
    }

    public Path file() {
        return mapped.file();
    }

    /// Whether a process that is named in the region may be shown to this user. A tenant can write any process into a slot, and its reader
    /// must not learn about processes of other users.
    boolean mayShow(Identity process) {
        return mapped.owner() == RuntimeFile.OWN_UID || process.isOf(mapped.owner());
    }

    public HeaderView header() {
        return HeaderView.of(segment, places);
    }

    public LimitsView limits() {
        return LimitsView.of(segment, places);
    }

    /// Page 0, for a change of limits.
    MappedPage firstPage() {
        return new MappedPage(segment);
    }

    public GpuView gpu(int entry) {
        return GpuView.at(segment, places, entry);
    }

    public ErrorView error(int entry) {
        return ErrorView.at(segment, places, entry);
    }

    public SlotView slot(int slot) {
        return SlotView.at(segment, places, slot);
    }

    /// What the owner of a slot does to carry out a command.
    public PauseView pause(int slot) {
        return PauseView.at(segment, places, slot);
    }

    /// Wakes the processes of the tenant that wait for another command than the last, or for room.
    public void wakeForCommand() {
        Futex.wakeAll(segment.asSlice(RegionLayout.LIMITS_COMMAND_OFFSET, Integer.BYTES));
    }

    /// Copies slots, to see which of them are free. Reading one slot after the other takes far longer.
    void copySlots(int first, long[] words) {
        MemorySegment.copy(segment, ValueLayout.JAVA_LONG, slotPlace(first), words, 0, words.length);
    }

    int slotWords() {
        return places.bytes(RegionLayout.SLOT_PLACE) / Long.BYTES;
    }

    /// Where a slot lies in the file.
    long slotPlace(int slot) {
        return places.offset(RegionLayout.SLOT_PLACE, slot);
    }

    /// Version of Sluice that made the file, and compatible changes of the layout that it knew.
    public String version() {
        return FileFormat.version(segment);
    }

    public long revision() {
        return FormatView.of(segment).revision();
    }

    /// The account of a slot's owner on the GPU of an entry.
    public AccountView account(int slot, int gpuEntry) {
        return AccountView.at(segment, places, slot * RegionLayout.GPU_COUNT + gpuEntry);
    }

    /// The tenant's time on the GPU of an entry.
    public ShareView share(int gpuEntry) {
        return ShareView.at(segment, places, gpuEntry);
    }

    /// The counters of one entry point in one stripe.
    public CallView call(int entry) {
        return CallView.at(segment, places, entry);
    }

    /// Calls that threads with a stripe of their own submitted to the GPU of an entry.
    long submittedCalls(int gpuEntry) {
        long calls = 0;
        for (int stripe = 0; stripe < RegionLayout.SUBMISSION_COUNT; stripe++) {
            calls += SubmissionView.at(segment, places, stripe).calls(gpuEntry);
        }
        return calls;
    }

    public TrafficView traffic(int stripe) {
        return TrafficView.at(segment, places, stripe);
    }

    @Override
    public void close() {
        mapped.close();
    }
}
