package sluice.agent.audit;

import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import sluice.agent.machine.EventLog;
import sluice.api.model.AuditFinding;
import sluice.cuda.NvmlHealth;

/// One tick of the audit: looks, stops the processes that it may stop, and reports new findings. It reports last, so that a client that
/// hears of a finding can ask for it at once.
final class AuditWatch implements AutoCloseable {
    private static final Duration HEALTH_EVERY = Duration.ofSeconds(10);

    private final Audit audit;
    private final AuditStop stop;
    private final Health health;
    private final AuditHealth words;
    private final EventLog events;
    private final PrintStream log;
    private final List<Runnable> news = new ArrayList<>();
    private Map<AuditSuspect.Key, AuditSuspect> standing = Map.of();
    private Instant healthAt = Instant.EPOCH;
    private volatile List<AuditFinding> findings = List.of();
    private volatile Map<String, List<String>> ill = Map.of();

    /// The driver's answers about GPUs.
    ///
    /// @param uuids by the numbers of the GPUs
    record Health(Map<Integer, String> uuids, Supplier<List<NvmlHealth.Xid>> xids, IntFunction<NvmlHealth.Health> of) {}

    AuditWatch(Audit audit, AuditRules rules, Health health, EventLog events, PrintStream log) {
        this.audit = audit;
        this.health = health;
        this.events = events;
        this.log = log;
        stop = new AuditStop(rules, (suspect, text) -> tell(suspect, text, true));
        words = new AuditHealth((gpu, text) -> news.add(() -> events.add("health", "", rules.self(), "GPU " + gpu + ": " + text)));
    }

    List<AuditFinding> findings() {
        return findings;
    }

    /// The faults of the GPU with a UUID.
    List<String> health(String uuid) {
        return ill.getOrDefault(uuid, List.of());
    }

    void look(Instant now) {
        try {
            lookAtProcesses(now);
            lookAtHealth(now);
        } finally {
            news.forEach(Runnable::run);
            news.clear();
        }
    }

    private void lookAtProcesses(Instant now) {
        List<Audit.Found> found = audit.look(now);
        Map<AuditSuspect.Key, AuditSuspect> here = new HashMap<>();
        for (Audit.Found each : found) {
            here.put(each.suspect().key(), each.suspect());
            if (!standing.containsKey(each.suspect().key())) {
                tell(each.suspect(), each.suspect().text(), false);
            }
        }
        standing.forEach((key, suspect) -> {
            if (!here.containsKey(key)) {
                tell(suspect, suspect.who() + " is no longer to be found on GPU " + suspect.on().gpu() + ", or is in order", false);
            }
        });
        standing = here;
        findings = stop.step(found, now);
    }

    private void tell(AuditSuspect suspect, String text, boolean logged) {
        news.add(() -> events.add("audit", suspect.held().map(AuditLedgers.Held::tenant).orElse(""), suspect.process().uid(), text));
        if (logged) {
            log.println("sluice: audit " + text);
        }
    }

    private void lookAtHealth(Instant now) {
        List<NvmlHealth.Xid> xids = health.xids().get();
        xids.forEach(xid -> words.see(xid, now));
        if (!xids.isEmpty() || Duration.between(healthAt, now).compareTo(HEALTH_EVERY) >= 0) {
            healthAt = now;
            Map<String, List<String>> all = new HashMap<>();
            health.uuids().forEach((gpu, uuid) -> all.put(uuid, words.words(gpu, health.of().apply(gpu), now)));
            ill = Map.copyOf(all);
        }
    }

    @Override
    public void close() {
        stop.close();
    }
}
