package sluice.region;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/// The one agent of a folder. It holds a lock on a file there, which the kernel takes away when it ends, however it ends.
/// The file has the agent's pid in it until somebody has taken back the plans that it left.
public final class AgentLock implements AutoCloseable {
    private static final String NAME = "agent.lock";

    private final FileChannel channel;

    private AgentLock(FileChannel channel) {
        this.channel = channel;
    }

    /// The lock for this process, or nothing when another one has it.
    public static Optional<AgentLock> take(RuntimeDirectory directory, long pid) {
        Optional<AgentLock> lock = open(file(directory), true);
        lock.ifPresent(taken -> {
            taken.write(Long.toString(pid));
            give(directory);
        });
        return lock;
    }

    /// The file belongs to the user of the folder, also when it is an agent of root that made it: the user's tools open it.
    private static void give(RuntimeDirectory directory) {
        try {
            int owner = (int) directory.owner();
            if (owner != ThisProcess.current().uid()) {
                Files.setAttribute(file(directory), "unix:uid", owner, LinkOption.NOFOLLOW_LINKS);
            }
        } catch (IOException e) {
            // The lock is what counts.
        }
    }

    /// The lock, for who takes the plans of an agent back that has ended; nothing when an agent runs, or left none.
    static Optional<AgentLock> takeAfterAgent(RuntimeDirectory directory) {
        Path file = file(directory);
        try {
            return Files.size(file) == 0 ? Optional.empty() : open(file, false);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /// The pid of the agent that plans for the tenants of a folder.
    public static Optional<Long> holder(RuntimeDirectory directory) {
        Optional<AgentLock> free = open(file(directory), false);
        if (free.isPresent()) {
            free.get().close();
            return Optional.empty();
        }
        try {
            return Optional.of(Long.parseLong(Files.readString(file(directory)).strip()));
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Path file(RuntimeDirectory directory) {
        return directory.path().resolve(NAME);
    }

    private static Optional<AgentLock> open(Path file, boolean create) {
        FileChannel channel = null;
        try {
            channel = create
                    ? FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
                    : FileChannel.open(file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new AgentLock(channel));
            }
        } catch (NoSuchFileException | OverlappingFileLockException e) {
            // Nobody's, or of another part of this process.
        } catch (IOException e) {
            throw new SluiceException("cannot open " + file + " (" + SluiceException.reason(e) + "); check who owns it", e);
        }
        closeQuietly(channel);
        return Optional.empty();
    }

    /// Says that nothing of an agent is left.
    void clear() {
        write("");
    }

    private void write(String text) {
        try {
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
        } catch (IOException e) {
            // The lock is what counts.
        }
    }

    @Override
    public void close() {
        closeQuietly(channel);
    }

    private static void closeQuietly(FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The lock is gone with the process at the latest.
        }
    }
}
