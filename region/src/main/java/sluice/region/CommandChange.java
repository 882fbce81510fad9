package sluice.region;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import sluice.region.layout.LimitsView;
import sluice.region.pause.Command;
import sluice.region.pause.Depth;
import sluice.region.place.SluiceException;

/// Asks a tenant that runs to pause or to resume. Its processes carry it out by themselves; [TenantState] shows their progress.
///
/// @param before the command until then
/// @param asked  the command now
/// @param fresh  whether the command was written; false: the tenant had it already
public record CommandChange(Path file, Command before, Command asked, boolean fresh) {

    /// Writes a command, unless the tenant has the same command already and no process refused it. A command to run also ends pauses that
    /// processes began themselves. The tenant may have ended since it was seen, and its file may now be another tenant's.
    public static CommandChange to(Depth depth, Tenant seen) {
        try (ChangeLock _ = ChangeLock.of(seen.file()); Region region = Region.openReadWrite(seen.file())) {
            Tenant now = new TenantReader(region).read();
            if (now.uid() != seen.uid() || now.createdNanos() != seen.createdNanos()) {
                throw new SluiceException("the region " + seen.file() + " is another tenant's now; look again");
            }
            requireAble(now, depth, region.version());
            boolean ofItself = !depth.isPause() && now.liveProcesses().stream().anyMatch(process -> process.pause().isOwnPause());
            boolean same = now.asked().depth() == depth && !now.pause().refused() && !ofItself;
            Command next = same ? now.asked() : now.asked().next(depth, nowNanos());
            if (!same && !depth.isPause()) {
                region.limits().resumed(next.word());
            }
            if (!same) {
                write(region, now.asked(), next);
            }
            return new CommandChange(seen.file(), now.asked(), next, !same);
        }
    }

    private static void requireAble(Tenant tenant, Depth depth, String version) {
        if (!tenant.state().lives()) {
            throw new SluiceException("tenant '" + tenant.name() + "' has ended; only a running one can be paused or resumed");
        }
        Optional<TenantProcess> unable = tenant.liveProcesses().stream().filter(process -> !process.pause().able()).findFirst();
        if (depth.isPause() && unable.isPresent()) {
            throw new SluiceException("process " + unable.get().identity().pid() + " of '" + tenant.name() + "' cannot pause: its library is too old, or could not start its thread (the region is of Sluice "
                    + version + "); start the job again with this version");
        }
    }

    /// Restores the command from before, unless the command has changed since.
    ///
    /// @return whether it was taken back
    public boolean withdraw() {
        try (ChangeLock _ = ChangeLock.of(file); Region region = Region.openReadWrite(file)) {
            if (!fresh || region.limits().command() != asked.word()) {
                return false;
            }
            write(region, asked, asked.next(before.depth(), nowNanos()));
            return true;
        }
    }

    /// A tool that did not get the lock within 2 s goes on without it, and may race with another tool. The second tool then fails here.
    private static void write(Region region, Command expected, Command next) {
        LimitsView limits = region.limits();
        if (!limits.compareAndSetCommand(expected.word(), next.word())) {
            throw new SluiceException("another tool asked this tenant for something else just now; look again with 'sluice ps'");
        }
        limits.commandNanos(next.atNanos());
        region.wakeForCommand();
    }

    private static long nowNanos() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000 + now.getNano();
    }
}
