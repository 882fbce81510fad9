package sluice.region.place;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import sluice.linux.Descriptor;
import sluice.linux.FileLocks;
import sluice.linux.FileRules;
import sluice.linux.Folder;
import sluice.linux.UnusableFileException;

/// The one agent of a folder. It holds a lock on a file there. The kernel releases the lock when the agent ends, in any way. The file has
/// the agent's pid in it until a process has cleared the plans that the agent left.
///
/// The lock belongs to the open file, not to the process, so another part of the agent may open and close the file at any time.
public final class AgentLock implements AutoCloseable {
    private static final String NAME = "agent.lock";
    private static final int RIGHTS = 0600;
    private static final int MOST_BYTES = 64;
    private static final int ATTEMPTS = 3;

    private final Descriptor file;

    private AgentLock(Descriptor file) {
        this.file = file;
    }

    /// The lock for this process, or nothing when another one has it.
    public static Optional<AgentLock> take(RuntimeDirectory directory, long pid) {
        try (Folder folder = Folder.open(directory.path())) {
            Optional<AgentLock> lock = locked(openOrCreate(folder));
            lock.ifPresent(taken -> taken.write(Long.toString(pid)));
            return lock;
        } catch (IOException e) {
            throw cannotOpen(directory, e);
        }
    }

    /// The file belongs to the user of the folder, also if root's agent made it, because the user's tools open it. Anything else with this
    /// name is removed.
    private static Descriptor openOrCreate(Folder folder) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return folder.openDescriptor(NAME, rules(folder), true);
            } catch (UnusableFileException e) {
                folder.delete(NAME);
            } catch (NoSuchFileException e) {
                // To be made.
            }
            try {
                Descriptor made = folder.create(NAME, RIGHTS);
                made.give(folder.status().uid());
                return made;
            } catch (FileAlreadyExistsException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static FileRules rules(Folder folder) throws IOException {
        return FileRules.of(folder.status().uid(), MOST_BYTES);
    }

    private static Optional<AgentLock> locked(Descriptor file) throws IOException {
        if (FileLocks.take(file, 0, 0)) {
            return Optional.of(new AgentLock(file));
        }
        file.close();
        return Optional.empty();
    }

    /// The lock for clearing the plans of a dead agent; nothing when an agent runs, or left none.
    public static Optional<AgentLock> takeAfterAgent(RuntimeDirectory directory) {
        try (Folder folder = Folder.open(directory.path())) {
            return folder.status(NAME).bytes() == 0 ? Optional.empty() : locked(folder.openDescriptor(NAME, rules(folder), true));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /// The pid of the agent that plans for the tenants of a folder.
    public static Optional<Long> holder(RuntimeDirectory directory) {
        try (Folder folder = Folder.open(directory.path()); Descriptor file = folder.openDescriptor(NAME, rules(folder), false)) {
            boolean held = FileLocks.state(file, 0, 0) == FileLocks.State.HELD;
            return held ? Optional.of(Long.parseLong(new String(folder.read(NAME, rules(folder)), StandardCharsets.UTF_8).strip())) : Optional.empty();
        } catch (NoSuchFileException | UnusableFileException | NumberFormatException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw cannotOpen(directory, e);
        }
    }

    private static SluiceException cannotOpen(RuntimeDirectory directory, IOException e) {
        return new SluiceException("cannot open " + directory.path().resolve(NAME) + " (" + SluiceException.reason(e) + "); check who owns it", e);
    }

    /// Notes that no plans of an agent are left.
    public void clear() {
        write("");
    }

    private void write(String text) {
        try (FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
        } catch (IOException e) {
            // The lock is what counts.
        }
    }

    @Override
    public void close() {
        file.close();
    }
}
