package sluice.kubernetes.claims;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import sluice.linux.DurableFolder;
import sluice.region.place.SluiceException;

/// What is written down of each claim. During an update two node programs share the folder, so nothing of it is kept in memory, and a claim is
/// locked in both.
final class ClaimStore implements AutoCloseable {
    private static final String SUFFIX = ".json";
    private static final String LOCK = ".lock";
    private static final int LOCKS = 64;

    /// A lock of a file is the process's, so threads need their own.
    private static final Object[] THREADS = Stream.generate(Object::new).limit(LOCKS).toArray();

    private final DurableFolder folder;
    /// Kept open: the kernel gives all locks of a file back when the process closes any descriptor of it.
    private final FileChannel channel;

    ClaimStore(Path path) throws IOException {
        folder = DurableFolder.make(path);
        channel = FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    /// Runs while no other thread and no other program works at the claim.
    <T> T locked(String uid, Supplier<T> action) {
        int number = Math.floorMod(uid.hashCode(), LOCKS);
        synchronized (THREADS[number]) {
            try (FileLock _ = channel.lock(number, 1, false)) {
                return action.get();
            } catch (IOException e) {
                throw new SluiceException("cannot lock the claims in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
            }
        }
    }

    /// None if there is no file, or if it is damaged.
    Optional<PreparedClaim> find(String uid) {
        try {
            return parse(Files.readAllBytes(folder.path().resolve(uid + SUFFIX)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    boolean has(String uid) {
        return Files.exists(folder.path().resolve(uid + SUFFIX));
    }

    /// The ids of all claims, also of those whose file is damaged.
    Set<String> ids() {
        return read().keySet();
    }

    /// All that can be read.
    Map<String, PreparedClaim> all() {
        Map<String, PreparedClaim> all = new TreeMap<>();
        read().forEach((uid, text) -> parse(text).ifPresent(claim -> all.put(uid, claim)));
        return all;
    }

    private Map<String, byte[]> read() {
        try {
            return folder.read("", SUFFIX);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /// A damaged file counts as none: kubelet asks again, and the next answer replaces it.
    private static Optional<PreparedClaim> parse(byte[] text) {
        try {
            return Optional.of(PreparedClaim.parse(text));
        } catch (SluiceException e) {
            return Optional.empty();
        }
    }

    void keep(PreparedClaim claim) {
        try {
            folder.write(claim.claim().id() + SUFFIX, claim.json());
        } catch (IOException e) {
            throw new SluiceException("cannot write down the claim in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    void forget(String uid) {
        try {
            folder.delete(uid + SUFFIX);
        } catch (IOException e) {
            throw new SluiceException("cannot forget the claim in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    private SluiceException unreadable(IOException e) {
        return new SluiceException("cannot read the claims in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // Its locks are gone either way.
        }
    }
}
