package sluice.agent.audit;

import java.time.Instant;
import java.util.Optional;
import sluice.api.model.AuditFinding;
import sluice.region.limits.Size;

/// A process whose use did not fit a ledger at one look.
///
/// @param held   its charge in a ledger; empty: it is in none
/// @param spared why it must not be stopped; empty when it may be
record AuditSuspect(OnGpu on, AuditedProcess process, Optional<AuditLedgers.Held> held, String spared) {
    private static final int COMMAND_LENGTH = 100;

    /// A process on a GPU, by NVML.
    ///
    /// @param usedBytes less than 0 when it does not tell
    /// @param draws     whether it has a graphics context there too
    record OnGpu(int gpu, String uuid, long pid, long usedBytes, boolean draws) {}

    /// A key that is equal at all looks that find the same.
    record Key(long identity, String uuid, String kind) {}

    Key key() {
        return new Key(process.identity().word(), on.uuid(), kind());
    }

    String kind() {
        return held.isPresent() ? AuditFinding.OVER : AuditFinding.UNKNOWN;
    }

    AuditFinding finding(Instant since, String action) {
        return new AuditFinding(kind(), on.pid(), process.uid(), on.uuid(), process.commandLine(), held.map(AuditLedgers.Held::tenant).orElse(""),
                process.container(), on.usedBytes(), held.map(AuditLedgers.Held::bytes).orElse(0L), since, action);
    }

    /// One line for people: `pid 4711 (python train.py) has 1.2 GiB on GPU 0 and is in no ledger`.
    String text() {
        String holds = on.usedBytes() < 0 ? "is" : "has " + Size.format(on.usedBytes());
        return who() + " " + holds + " on GPU " + on.gpu() + held.map(ledger -> ", " + Size.format(on.usedBytes() - ledger.bytes())
                + " more than its ledger says").orElse(" and is in no ledger");
    }

    /// The program chose its command line, which goes to logs.
    String who() {
        String command = process.commandLine().length() > COMMAND_LENGTH ? process.commandLine().substring(0, COMMAND_LENGTH) + "…" : process.commandLine();
        return "pid " + on.pid() + " (" + command.replaceAll("\\p{Cntrl}", "?") + ")" + (process.container().isEmpty() ? "" : " in container " + process.container());
    }
}
