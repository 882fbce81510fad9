package sluice.agent.pause;

import java.nio.file.Path;
import java.util.function.BiFunction;
import sluice.region.Ledger;
import sluice.region.Region;
import sluice.region.layout.PauseView;
import sluice.region.layout.RegionLayout;
import sluice.region.pause.Command;
import sluice.region.pause.PauseStep;
import sluice.region.place.Identity;

/// A process of a tenant with the library's thread that carries out commands: it answers as it is told to.
final class FakeAttendant implements AutoCloseable {
    private final Region region;
    private final Ledger ledger;
    private final Thread thread;
    private volatile boolean ended;

    /// What it does with a command that it has not answered yet.
    public enum Doing { ANSWER, REFUSE, NOTHING }

    public FakeAttendant(Path file, BiFunction<Command, PauseView, Doing> doing) {
        region = Region.openReadWrite(file);
        ledger = Ledger.claim(region, Identity.self());
        attend(region, ledger.slot());
        thread = Thread.ofPlatform().daemon().start(() -> carryOut(doing));
    }

    /// Says of a slot that its process can pause and has a context.
    public static void attend(Region region, int slot) {
        region.slot(slot).features(RegionLayout.FEATURES);
        region.pause(slot).attended(1);
    }

    private void carryOut(BiFunction<Command, PauseView, Doing> doing) {
        PauseView pause = region.pause(ledger.slot());
        while (!ended) {
            Command command = new Command(region.limits().command(), region.limits().commandNanos());
            if (command.word() != region.slot(ledger.slot()).answer() && command.word() != pause.refused()) {
                switch (doing.apply(command, pause)) {
                    case ANSWER -> {
                        pause.sinceNanos(command.depth().isPause() ? command.atNanos() : 0);
                        region.slot(ledger.slot()).answer(command.word());
                    }
                    case REFUSE -> pause.refused(command.word());
                    case NOTHING -> { }
                }
            }
            Thread.yield();
        }
    }

    /// Writes what a process tells of a step. A reason that is there already is not written again: a reader could see half of it.
    public static void tell(PauseView pause, PauseStep step, long totalBytes, long movedBytes, String reason) {
        pause.totalBytes(totalBytes);
        pause.movedBytes(movedBytes);
        if (!pause.reason().equals(reason)) {
            pause.reason(reason);
        }
        pause.step(step.number());
    }

    @Override
    public void close() {
        ended = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        ledger.close();
        region.close();
    }
}
