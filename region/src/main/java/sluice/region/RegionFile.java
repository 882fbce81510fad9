package sluice.region;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import sluice.region.layout.RegionLayout;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// Makes the file of a new region: complete under a temporary name, then linked to its real one.
///
/// Every page is written, not only reserved: on a full tmpfs a mapped hole kills the process that touches it.
public final class RegionFile {
    public static final String TEMPORARY_SUFFIX = ".tmp";
    static final String SUFFIX = ".region";
    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int LINK_ATTEMPTS = 3;

    private RegionFile() {}

    /// Where the rest of a region in two files lies.
    public static Path ledger(Path region) {
        String name = region.getFileName().toString();
        String base = name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name;
        return region.resolveSibling(base + ".ledger");
    }

    static Path create(RuntimeDirectory directory, RegionDraft draft) {
        Path region = directory.region(draft.tenant());
        Path temporary = directory.path().resolve("." + draft.tenant() + "." + draft.root().pid() + TEMPORARY_SUFFIX);
        try {
            write(temporary, new FirstPage(draft, ThisProcess.current().uid(), TenantReader.pidNamespace()), RegionLayout.REGION_BYTES);
            publish(temporary, region, draft.tenant());
            return region;
        } catch (IOException e) {
            throw new SluiceException("cannot make a region in " + directory.path() + " (" + SluiceException.reason(e)
                    + "); free space there or set " + RuntimeDirectory.VARIABLE + " to another directory", e);
        } finally {
            deleteQuietly(temporary);
        }
    }

    /// In two files; the ledger first, because the file of the limits shows that the region is complete.
    static Path createSplit(RuntimeDirectory directory, RegionDraft draft, int uid, String file) {
        Path region = directory.region(file);
        Path temporary = directory.path().resolve("." + file + "." + draft.root().pid() + TEMPORARY_SUFFIX);
        try {
            if (Files.exists(region) && Tenant.lives(region)) {
                throw running(draft.tenant());
            }
            Files.deleteIfExists(region);
            Path ledger = ledger(region);
            write(temporary, new FirstPage(draft, uid, TenantReader.pidNamespace()), RegionLayout.REGION_BYTES);
            give(temporary, uid);
            Files.move(temporary, ledger, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            write(temporary, new FirstPage(draft, uid, TenantReader.pidNamespace()), RegionLayout.PAGE_BYTES);
            Files.move(temporary, region, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return region;
        } catch (IOException e) {
            throw new SluiceException("cannot make a region in " + directory.path() + " (" + SluiceException.reason(e)
                    + "); free space there", e);
        } finally {
            deleteQuietly(temporary);
        }
    }

    /// A process of the tenant opens the ledger again by its descriptor, to lock its slot for itself alone. An agent that may not give files
    /// away has tenants of its own user only.
    private static void give(Path ledger, int uid) throws IOException {
        if (uid != ThisProcess.current().uid()) {
            Files.setAttribute(ledger, "unix:uid", uid);
        }
    }

    private static void write(Path temporary, FirstPage page, long bytes) throws IOException {
        Files.deleteIfExists(temporary);
        try (FileChannel file = FileChannel.open(temporary, EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE)))) {
            writeFully(file, page.unfinished(), 0);
            ByteBuffer zeros = ByteBuffer.allocateDirect(CHUNK_BYTES);
            for (long at = RegionLayout.PAGE_BYTES; at < bytes; at += CHUNK_BYTES) {
                zeros.clear().limit((int) Math.min(CHUNK_BYTES, bytes - at));
                writeFully(file, zeros, at);
            }
            writeFully(file, page.finished(), 0);
        }
    }

    private static void writeFully(FileChannel file, ByteBuffer bytes, long position) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            at += file.write(bytes, at);
        }
    }

    /// A link never replaces a file, so only one of two tenants with the same name succeeds.
    private static void publish(Path temporary, Path region, String tenant) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                Files.createLink(region, temporary);
                return;
            } catch (FileAlreadyExistsException e) {
                if (attempt == LINK_ATTEMPTS || Tenant.lives(region) || !removeEnded(region, temporary)) {
                    throw running(tenant);
                }
            }
        }
    }

    private static SluiceException running(String tenant) {
        return new SluiceException("tenant '" + tenant + "' is running already; choose another --name or wait until it ends");
    }

    /// Removes the region of an ended tenant. Another process may just have put a new one in its place. So the file is moved aside first,
    /// checked again, and put back when it is in use.
    private static boolean removeEnded(Path region, Path temporary) throws IOException {
        Path aside = temporary.resolveSibling(temporary.getFileName() + ".ended" + TEMPORARY_SUFFIX);
        try {
            Files.move(region, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            return true;
        }
        boolean ended = !Tenant.lives(aside);
        if (!ended) {
            Files.createLink(region, aside);
        }
        deleteQuietly(aside);
        return ended;
    }

    public static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // The next sweep tries again.
        }
    }
}
