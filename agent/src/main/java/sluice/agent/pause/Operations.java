package sluice.agent.pause;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import sluice.agent.http.Refusal;
import sluice.api.model.Operation;
import sluice.api.pause.PauseBody;
import sluice.api.pause.PauseOperation;
import sluice.region.Tenant;
import sluice.region.place.SluiceException;
import sluice.region.restore.RestoreRoom;

/// The operations that run, and the last that ended. A user has a bounded number of each, so that nobody pushes those of others out.
final class Operations {
    static final int MOST_RUNNING = 64;
    private static final int MOST_KEPT = 128;

    private final RestoreRoom room;
    private final Map<String, Kept> all = new LinkedHashMap<>();
    private long count;

    Operations(RestoreRoom room) {
        this.room = room;
    }

    /// An operation, and its listeners.
    private static final class Kept {
        private final PauseOperation work;
        private final List<Consumer<Operation>> listeners = new ArrayList<>();
        private Operation last;

        private Kept(PauseOperation work) {
            this.work = work;
            last = work.look();
        }

        private void see(Operation now) {
            if (!now.equals(last)) {
                last = now;
                listeners.forEach(listener -> listener.accept(now));
            }
        }
    }

    synchronized Operation begin(Tenant tenant, PauseBody wanted) {
        long running = all.values().stream().filter(kept -> kept.last.uid() == tenant.uid() && kept.last.runs()).count();
        if (running >= MOST_RUNNING) {
            throw new Refusal(429, running + " operations of user " + tenant.uid() + " run already; wait until some have ended");
        }
        String id = Long.toString(++count);
        Kept kept = new Kept(PauseOperation.begin(id, tenant, wanted.kind(), wanted.timeout(), room));
        all.put(id, kept);
        forget(tenant.uid());
        return kept.last;
    }

    private void forget(long uid) {
        List<String> ended = all.entrySet().stream().filter(entry -> entry.getValue().last.uid() == uid && !entry.getValue().last.runs()).map(Map.Entry::getKey).toList();
        ended.subList(0, Math.max(0, ended.size() - MOST_KEPT)).forEach(all::remove);
    }

    synchronized List<Operation> list() {
        return all.values().stream().map(kept -> kept.last).toList();
    }

    synchronized Optional<Operation> find(String id) {
        return Optional.ofNullable(all.get(id)).map(kept -> {
            kept.see(kept.work.look());
            return kept.last;
        });
    }

    synchronized Operation withdraw(String id) {
        Kept kept = all.get(id);
        kept.see(kept.work.withdraw());
        return kept.last;
    }

    /// Tells a listener how an operation stands, and then each change. It must not wait for anything. @return takes the listener away again
    synchronized Runnable listen(String id, Consumer<Operation> listener) {
        Kept kept = all.get(id);
        listener.accept(kept.last);
        kept.listeners.add(listener);
        return () -> {
            synchronized (this) {
                kept.listeners.remove(listener);
            }
        };
    }

    /// One tick of the clock: all that run go on.
    synchronized void look() {
        for (Kept kept : all.values()) {
            if (kept.last.runs()) {
                try {
                    kept.see(kept.work.look());
                } catch (SluiceException | InternalError e) {
                    // Its region cannot be written just now, or was truncated; the next look tries again.
                }
            }
        }
    }
}
