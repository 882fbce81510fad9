package sluice.agent.audit;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import sluice.agent.audit.AuditSuspect.OnGpu;
import sluice.agent.os.Namespaces;
import sluice.region.Tenant;
import sluice.region.place.Identity;

/// Compares the processes on the GPUs with those in a ledger. One look proves nothing: a list is old when it is read, and the library learns
/// the driver's own use over time. So a process becomes a finding only after several equal looks.
///
/// Ledgers are read after the list of processes: a process in the list must have been in its ledger before.
final class Audit {
    private static final int LOOKS_UNKNOWN = 2;
    private static final int LOOKS_OVER = 3;
    /// The times between looks differ. So a program that takes and gives back memory periodically is not always seen in the same phase.
    private static final int[] SAMPLES_MILLIS = {3, 7, 11, 17};

    private final Supplier<List<OnGpu>> listed;
    private final Set<String> gpus;
    private final AuditRules rules;
    private final Ledgers ledgers;
    private final boolean sure = Namespaces.seesAllPids();
    private final Map<AuditSuspect.Key, Seen> seen = new HashMap<>();

    /// The source of tenants.
    interface Ledgers {
        /// The tenants of a moment ago; costs nothing.
        List<Tenant> last();

        /// The present tenants.
        List<Tenant> fresh();
    }

    /// @param looks at how many looks in a row it was a suspect
    private record Seen(Instant since, int looks) {}

    /// A process that was a suspect at enough looks.
    record Found(AuditSuspect suspect, Instant since) {}

    /// @param gpus UUIDs that NVML knows
    Audit(Supplier<List<OnGpu>> listed, Set<String> gpus, AuditRules rules, Ledgers ledgers) {
        this.listed = listed;
        this.gpus = gpus;
        this.rules = rules;
        this.ledgers = ledgers;
    }

    /// One look. @return the suspects of enough looks
    List<Found> look(Instant now) {
        List<OnGpu> present = listed.get();
        List<AuditSuspect> suspects = judge(present, new AuditLedgers(ledgers.last(), gpus));
        if (!suspects.isEmpty()) {
            List<OnGpu> again = suspects.stream().map(AuditSuspect::on).toList();
            suspects = judge(again, new AuditLedgers(ledgers.fresh(), gpus)).stream().flatMap(suspect -> sample(suspect).stream()).toList();
        }
        seen.keySet().retainAll(suspects.stream().map(AuditSuspect::key).collect(Collectors.toSet()));
        List<Found> found = new ArrayList<>();
        for (AuditSuspect suspect : suspects) {
            Seen so = seen.merge(suspect.key(), new Seen(now, 1), (before, first) -> new Seen(before.since(), before.looks() + 1));
            if (so.looks() >= (suspect.held().isPresent() ? LOOKS_OVER : LOOKS_UNKNOWN)) {
                found.add(new Found(suspect, so.since()));
            }
        }
        return found;
    }

    /// Whether the last look saw a process that may become a finding.
    boolean suspects() {
        return !seen.isEmpty();
    }

    private List<AuditSuspect> judge(List<OnGpu> present, AuditLedgers known) {
        return present.stream().flatMap(on -> judge(on, known).stream()).toList();
    }

    private Optional<AuditSuspect> judge(OnGpu on, AuditLedgers known) {
        Optional<Identity> identity = Identity.of(on.pid());
        Optional<AuditLedgers.Held> held = identity.flatMap(name -> known.find(List.of(name), on.uuid()));
        if (identity.isEmpty() || held.isPresent() && on.usedBytes() <= held.get().bytes()) {
            return Optional.empty();
        }
        return AuditedProcess.read(on.pid()).filter(rules::judges).flatMap(process -> judge(on, process, known));
    }

    private Optional<AuditSuspect> judge(OnGpu on, AuditedProcess process, AuditLedgers known) {
        Optional<AuditedProcess.Mappings> mappings = process.mappings();
        AuditLedgers mapped = AuditLedgers.in(mappings.map(AuditedProcess.Mappings::regions).orElse(List.of()), gpus);
        Optional<AuditLedgers.Held> held = more(known.find(process.names(), on.uuid()), mapped.find(process.names(), on.uuid()));
        boolean inOrder = held.isPresent() && !rules.isOver(process, on.usedBytes(), held.get());
        boolean anothersNumber = !sure && !mappings.map(AuditedProcess.Mappings::driver).orElse(false);
        if (inOrder || anothersNumber) {
            return Optional.empty();
        }
        return Optional.of(new AuditSuspect(on, process, held, spared(on, mappings, mapped)));
    }

    /// A figure of NVML and one of the ledger are never from the same moment. A process holds too much if it does so in all samples: its
    /// least use is more than the most that its ledger said.
    private Optional<AuditSuspect> sample(AuditSuspect first) {
        AuditSuspect least = first;
        for (int at = 0; first.held().isPresent() && at < SAMPLES_MILLIS.length; at++) {
            pause(SAMPLES_MILLIS[at]);
            AuditLedgers ledger = AuditLedgers.in(List.of(first.held().get().region()), gpus);
            Optional<AuditLedgers.Held> held = more(least.held(), ledger.find(first.process().names(), first.on().uuid()));
            Optional<OnGpu> on = listed.get().stream().filter(same -> same.pid() == first.on().pid() && same.uuid().equals(first.on().uuid())).findFirst();
            if (on.isEmpty()) {
                return Optional.empty();
            }
            least = new AuditSuspect(on.get().usedBytes() < least.on().usedBytes() ? on.get() : least.on(), first.process(), held, first.spared());
            if (!rules.isOver(least.process(), least.on().usedBytes(), held.orElseThrow())) {
                return Optional.empty();
            }
        }
        return Optional.of(least);
    }

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Optional<AuditLedgers.Held> more(Optional<AuditLedgers.Held> first, Optional<AuditLedgers.Held> second) {
        return first.isPresent() && second.isPresent() ? Optional.of(first.get().and(second.get())) : first.or(() -> second);
    }

    private static String spared(OnGpu on, Optional<AuditedProcess.Mappings> mappings, AuditLedgers mapped) {
        return on.draws() ? "it draws on the GPU too"
                : mappings.isEmpty() ? "what it has mapped cannot be seen"
                : !mappings.get().driver() ? "it has no CUDA driver mapped, so NVML may mean another process"
                : mapped.ofOtherLayout() ? "its region is of another version"
                : "";
    }
}
