package sluice.region.place;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import sluice.linux.ProcFile;

/// A process of a pid namespace, by a number that is never reused: its start time in clock ticks << 22 | its pid. The kernel uses a pid
/// alone again. `execve` changes neither half.
public record Identity(long word) {
    private static final int PID_BITS = 22;
    private static final long PID_MASK = (1L << PID_BITS) - 1;
    /// In a slot's owner word: the process holds the lock of the slot.
    public static final long SIGNED = 1L << 62;

    /// The process that has this pid now, if there is one.
    public static Optional<Identity> of(long pid) {
        return Optional.ofNullable(ProcessStat.read(Long.toString(pid))).map(Identity::new);
    }

    /// The process that had this pid and began at this time.
    public static Identity of(long pid, long startTicks) {
        return new Identity((startTicks << PID_BITS | pid) & Long.MAX_VALUE);
    }

    /// The process in the owner word of a slot.
    public static Identity ofOwner(long owner) {
        return new Identity(owner & (SIGNED - 1));
    }

    public static Identity self() {
        ProcessStat self = ProcessStat.read("self");
        if (self == null) {
            throw new SluiceException("cannot read /proc/self/stat; mount /proc");
        }
        return new Identity(self);
    }

    Identity(ProcessStat process) {
        this(of(process.pid(), process.startTicks()).word);
    }

    public long pid() {
        return word & PID_MASK;
    }

    public long startTicks() {
        return word >>> PID_BITS;
    }

    /// Whether this very process still runs.
    public boolean isAlive() {
        return isAlive(0);
    }

    /// Whether this very process still runs the program that the lower half of a slot's image stands for; 0 stands for any.
    public boolean isAlive(long image) {
        return runs(ProcessStat.read(Long.toString(pid())), image);
    }

    /// @param seen the kernel's answer about the pid; null: there is no such process
    boolean runs(ProcessStat seen, long image) {
        return seen != null && isThe(seen) && ((int) image == 0 || seen.image() == 0 || (int) image == seen.image());
    }

    boolean isThe(ProcessStat seen) {
        return of(seen.pid(), seen.startTicks()).word == word;
    }

    /// Whether the process runs as a user now.
    public boolean isOf(long uid) {
        try {
            return Integer.toUnsignedLong((Integer) Files.getAttribute(Path.of("/proc", Long.toString(pid())), "unix:uid")) == uid;
        } catch (IOException e) {
            return false;
        }
    }

    /// The command line of the process, for people; empty when it has ended or is another user's.
    String commandLine() {
        try {
            byte[] line = ProcFile.read(Long.toString(pid()), "cmdline");
            return Printable.of(new String(line, StandardCharsets.UTF_8).replace('\0', ' ').replace('\n', ' ').strip());
        } catch (IOException e) {
            return "";
        }
    }
}
