package sluice.agent.audit;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import sluice.api.model.AuditFinding;
import sluice.linux.Pidfd;

/// Stops findings of the audit, if the administrator asked for it: SIGTERM when a finding has lasted for the grace time, SIGKILL if it
/// still lasts some time later. Before each signal it checks the process again, and holds a descriptor of it. So the signal reaches the
/// process that was checked, or no process.
final class AuditStop implements AutoCloseable {
    private final AuditRules rules;
    private final BiConsumer<AuditSuspect, String> tell;
    private final Map<Long, Stopped> stopped = new HashMap<>();

    /// @param descriptor of the process; none when it was not signalled
    /// @param refusal    why not
    private record Stopped(Optional<Pidfd> descriptor, String action, Instant at, String refusal) {}

    /// @param tell receives each action on a process
    AuditStop(AuditRules rules, BiConsumer<AuditSuspect, String> tell) {
        this.rules = rules;
        this.tell = tell;
    }

    /// @return the findings, each with its action
    List<AuditFinding> step(List<Audit.Found> found, Instant now) {
        forget(found);
        for (Audit.Found each : found) {
            if (rules.stops(each.suspect().finding(each.since(), AuditFinding.REPORTED))) {
                stop(each, now);
            }
        }
        return found.stream().map(this::finding).toList();
    }

    private AuditFinding finding(Audit.Found found) {
        Stopped so = stopped.get(found.suspect().process().identity().word());
        return found.suspect().finding(found.since(), so == null ? AuditFinding.REPORTED : so.action());
    }

    private void forget(List<Audit.Found> found) {
        var standing = found.stream().map(each -> each.suspect().process().identity().word()).collect(Collectors.toSet());
        stopped.entrySet().removeIf(entry -> {
            boolean gone = !standing.contains(entry.getKey());
            if (gone) {
                entry.getValue().descriptor().ifPresent(Pidfd::close);
            }
            return gone;
        });
    }

    private void stop(Audit.Found found, Instant now) {
        AuditSuspect suspect = found.suspect();
        long name = suspect.process().identity().word();
        Stopped before = stopped.get(name);
        if ((before == null || before.descriptor().isEmpty()) && !found.since().plus(rules.grace()).isAfter(now)) {
            stopped.put(name, terminate(suspect, before == null ? "" : before.refusal(), now));
        } else if (before != null && before.action().equals(AuditFinding.TERMINATED) && !before.at().plus(rules.killAfter()).isAfter(now)
                && refusal(suspect).isEmpty() && before.descriptor().filter(process -> process.send(Pidfd.SIGKILL)).isPresent()) {
            stopped.put(name, new Stopped(before.descriptor(), AuditFinding.KILLED, now, ""));
            tell.accept(suspect, "killed " + suspect.who() + ", which did not end by itself");
        }
    }

    /// @param told why it was not stopped the last time
    private Stopped terminate(AuditSuspect suspect, String told, Instant now) {
        Optional<Pidfd> descriptor = Pidfd.open(suspect.on().pid());
        String refusal = descriptor.isEmpty() ? "the kernel gives no descriptor of it" : refusal(suspect).orElse("");
        if (refusal.isEmpty() && descriptor.orElseThrow().send(Pidfd.SIGTERM)) {
            tell.accept(suspect, "stopped " + suspect.who() + ": " + (suspect.held().isPresent() ? "it held more than its ledger said" : "it was in no ledger"));
            return new Stopped(descriptor, AuditFinding.TERMINATED, now, "");
        }
        descriptor.ifPresent(Pidfd::close);
        String why = refusal.isEmpty() ? "the kernel does not allow it" : refusal;
        if (!why.equals(told)) {
            tell.accept(suspect, "did not stop " + suspect.who() + ": " + why);
        }
        return new Stopped(Optional.empty(), AuditFinding.REPORTED, now, why);
    }

    /// Why it must not be stopped, by its present state. A process that has called execve has no driver mapped any more.
    private Optional<String> refusal(AuditSuspect suspect) {
        if (!suspect.spared().isEmpty()) {
            return Optional.of(suspect.spared());
        }
        Optional<AuditedProcess> now = AuditedProcess.read(suspect.on().pid());
        if (now.isEmpty() || !now.get().identity().equals(suspect.process().identity())) {
            return Optional.of("it has ended");
        }
        if (!rules.mayStop(now.get())) {
            return Optional.of("it is of user " + now.get().uid() + "; audit-stop-users says whose are stopped");
        }
        boolean same = now.get().mappings().filter(mappings -> mappings.driver()
                && (suspect.held().isPresent() || mappings.regions().isEmpty())).isPresent();
        return same ? Optional.empty() : Optional.of("it is not what it was");
    }

    @Override
    public void close() {
        forget(List.of());
    }
}
