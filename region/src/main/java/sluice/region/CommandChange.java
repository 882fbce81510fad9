package sluice.region;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import sluice.region.layout.LimitsView;
import sluice.region.pause.Command;
import sluice.region.pause.Depth;
import sluice.region.place.SluiceException;

/// Asks a tenant that runs to pause or to resume. Its processes carry it out by themselves; [TenantState] says how far they are.
///
/// @param before what it was asked to do until then
/// @param asked  what it is asked to do now
/// @param fresh  whether the command was written; false when the tenant does it already
public record CommandChange(Path file, Command before, Command asked, boolean fresh) {

    /// Writes a command, unless the tenant was asked for the same before and no process refused. A command to run also takes back what
    /// processes asked of themselves. A tenant that was seen may have ended since,
    /// and its file may have become another's.
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

    /// Takes the command back: the tenant is asked for what it was asked for before. Where somebody has asked for something else since, that holds.
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

    /// Who could not get the lock may meet another tool here: the one that comes second looks again.
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
