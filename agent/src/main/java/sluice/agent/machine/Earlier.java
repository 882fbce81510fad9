package sluice.agent.machine;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import sluice.agent.machine.MachineLook.BoardLook;
import sluice.agent.machine.MachineLook.Rates;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.region.GpuTime;
import sluice.region.Tenant;
import sluice.region.TenantGpu;
import sluice.region.TenantProcess;
import sluice.region.boards.BoardState;

/// The looks of the last second or so. Rates are computed against the youngest look that is old enough.
final class Earlier {
    private static final long APART_NANOS = 900_000_000;
    private static final long LONGEST_NANOS = 5_000_000_000L;

    private final Deque<MachineLook> looks = new ArrayDeque<>();
    private final Map<Path, Tenant> index = new HashMap<>();
    private MachineLook indexed;

    void keep(MachineLook look) {
        looks.addLast(look);
        while (looks.size() > 2 && second().readNanos() <= look.readNanos() - APART_NANOS) {
            looks.removeFirst();
        }
    }

    private MachineLook second() {
        return looks.stream().skip(1).findFirst().orElseThrow();
    }

    private Optional<MachineLook> before(long nowNanos) {
        MachineLook found = null;
        for (MachineLook look : looks) {
            boolean old = look.readNanos() <= nowNanos - APART_NANOS;
            found = old && look.readNanos() > nowNanos - LONGEST_NANOS ? look : found;
        }
        return Optional.ofNullable(found);
    }

    TenantLook rates(Tenant tenant, long nowNanos) {
        Optional<MachineLook> look = before(nowNanos);
        Optional<Tenant> then = look.map(this::byFile).map(known -> known.get(tenant.file())).filter(seen -> seen.createdNanos() == tenant.createdNanos());
        List<Rates> rates = IntStream.range(0, tenant.gpus().size()).mapToObj(at -> then
                .filter(seen -> at < seen.gpus().size())
                .map(seen -> rates(tenant.gpus().get(at), seen.gpus().get(at))).orElse(Rates.NONE)).toList();
        double calls = then.map(seen -> perSecond(calls(tenant) - calls(seen), nowNanos - look.get().readNanos())).orElse(0.0);
        return new TenantLook(tenant, calls, rates);
    }

    private Map<Path, Tenant> byFile(MachineLook look) {
        if (look != indexed) {
            index.clear();
            look.tenants().forEach(each -> index.put(each.tenant().file(), each.tenant()));
            indexed = look;
        }
        return index;
    }

    private static long calls(Tenant tenant) {
        return tenant.processes().stream().filter(TenantProcess::alive).mapToLong(TenantProcess::calls).sum();
    }

    private static Rates rates(TenantGpu now, TenantGpu then) {
        GpuTime time = now.time();
        GpuTime earlier = then.time();
        long over = time.readNanos() - earlier.readNanos();
        return new Rates(over, time.gotPermilleSince(earlier), perSecond(time.submittedCalls() - earlier.submittedCalls(), over),
                perSecond(now.refusedCalls() - then.refusedCalls(), over),
                permille(time.capWaitedNanos() - earlier.capWaitedNanos(), over),
                permille(time.turnWaitedNanos() - earlier.turnWaitedNanos(), over));
    }

    BoardLook rates(BoardState board, long uid, long nowNanos) {
        Optional<BoardState> then = before(nowNanos).flatMap(look -> look.boards().stream().map(BoardLook::state)
                .filter(seen -> seen.file().equals(board.file())).findFirst());
        return new BoardLook(board, uid,
                then.map(seen -> perSecond(board.handOvers() - seen.handOvers(), board.readNanos() - seen.readNanos())).orElse(0.0),
                then.map(seen -> perSecond(board.seized() - seen.seized(), board.readNanos() - seen.readNanos())).orElse(0.0));
    }

    private static double perSecond(long count, long nanos) {
        return nanos <= 0 ? 0 : Math.round(Math.max(0, count) * 1e10 / nanos) / 10.0;
    }

    private static int permille(long part, long nanos) {
        return nanos <= 0 ? 0 : (int) Math.round(1000.0 * Math.max(0, part) / nanos);
    }
}
