package sluice.region.pause;

import java.util.Arrays;
import sluice.region.layout.PauseView;
import sluice.region.layout.RegionLayout;
import sluice.region.layout.SlotView;
import sluice.region.place.Printable;

/// How far a process is with what its tenant was asked to do.
///
/// @param able     whether the library in the process can pause it
/// @param attended whether a thread of the library carries out commands; without it the process has no work and no memory
/// @param answer   the last command that it carried out
/// @param refused  the last command that it could not carry out
/// @param moving   what it is doing for that now
/// @param host     what of it is in host memory
/// @param moved    what it has moved so far
/// @param sinceNanos from when on its calls are held; 0 = they are not
/// @param reason   what it waits for, or why it refused
/// @param own      what a signal or a file of an older tool asked of this process alone
public record ProcessPause(boolean able, boolean attended, long answer, long refused, Moving moving, Host host, Moved moved, long sinceNanos,
        String reason, Own own) {
    public static final ProcessPause NONE = new ProcessPause(false, false, 0, 0, Moving.NONE, Host.NONE, Moved.NONE, 0, "", Own.NONE);

    private static final String FEATURE = "pause";
    private static final long ATTENDED = 1;
    /// The library could not start its thread.
    private static final long UNATTENDED = 2;
    private static final long FEATURE_BIT = 1L << Arrays.asList(RegionLayout.FEATURE_NAMES.split(" ")).indexOf(FEATURE);

    /// A step and how much of it is done.
    ///
    /// @param sinceNanos when it began, since 1970
    public record Moving(PauseStep step, long sinceNanos, long totalBytes, long movedBytes) {
        public static final Moving NONE = new Moving(PauseStep.NONE, 0, 0, 0);
    }

    /// Where its device memory is.
    ///
    /// @param awayBytes      in host memory
    /// @param stayingBytes   on the GPU although the rest was released; of a vacated process: what the driver takes there when it comes back
    /// @param reservoirBytes host memory that it has for that, in use or not
    public record Host(long awayBytes, long stayingBytes, long reservoirBytes) {
        public static final Host NONE = new Host(0, 0, 0);
    }

    /// A pause or a resume that a process asked of itself. The words have the form of a [Command].
    ///
    /// @param word    what was asked last; 0 = nothing
    /// @param answer  the last that it carried out
    /// @param refused the last that it could not carry out
    public record Own(long word, long answer, long refused) {
        public static final Own NONE = new Own(0, 0, 0);

        public Depth depth() {
            return Command.depth(word);
        }

        public boolean isPause() {
            return depth().isPause();
        }

        public boolean isRefused() {
            return word != 0 && refused == word;
        }

        /// Whether it is carried out, or cannot be.
        public boolean isSettled() {
            return answer == word || isRefused();
        }

        /// Whether the memory is not on the GPU because of it.
        public boolean isAway() {
            return depth().isAway() && answer == word;
        }
    }

    /// Sums since the process began.
    public record Moved(long releases, long outBytes, long outNanos, long backBytes, long backNanos, long pausedNanos) {
        public static final Moved NONE = new Moved(0, 0, 0, 0, 0, 0);

        public Moved plus(Moved other) {
            return new Moved(releases + other.releases, outBytes + other.outBytes, outNanos + other.outNanos, backBytes + other.backBytes,
                    backNanos + other.backNanos, pausedNanos + other.pausedNanos);
        }
    }

    public static ProcessPause of(SlotView slot, PauseView pause) {
        if ((slot.features() & FEATURE_BIT) == 0 || pause.attended() == UNATTENDED) {
            return NONE;
        }
        return new ProcessPause(true, pause.attended() == ATTENDED, slot.answer(), pause.refused(),
                new Moving(PauseStep.of(pause.step()), pause.stepNanos(), pause.totalBytes(), pause.movedBytes()),
                new Host(pause.awayBytes(), pause.stayingBytes(), pause.reservoirBytes()),
                new Moved(pause.releases(), pause.outBytes(), pause.outNanos(), pause.backBytes(), pause.backNanos(), pause.pausedNanos()),
                pause.sinceNanos(), Printable.of(pause.reason()), new Own(pause.own(), pause.ownAnswer(), pause.ownRefused()));
    }

    /// Whether nothing is left to do for a command. A library that cannot pause goes on.
    public boolean hasDone(Command command) {
        return able ? !attended || answer == command.word() : !command.depth().isPause();
    }

    /// Whether it has paused itself, or does so now.
    public boolean isOwnPause() {
        return attended && own.isPause();
    }

    public boolean hasRefused(Command command) {
        return attended && command.word() != 0 && refused == command.word();
    }

    /// Whether it still has to come back from a pause, or from one that was withdrawn.
    public boolean isHeldUnder(Command run) {
        return attended && answer != run.word() && (Command.depth(answer).isPause() || sinceNanos != 0);
    }
}
