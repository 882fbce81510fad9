package sluice.agent.audit;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import sluice.api.model.AuditFinding;

/// Which processes the audit judges, what is a finding, and what the audit does about one.
///
/// @param allUsers       whether processes of all users are judged; otherwise only those of `self`, whose ledgers are known
/// @param toleranceBytes by how much a process may be above its ledger; or by 5 % if that is more
/// @param allowUsers     users whose processes are never findings
/// @param allowCommands  programs that are never findings: names, or full paths
/// @param stop           which findings are stopped
/// @param stopUsers      users whose processes may be stopped; empty: those of `self`
/// @param stopAllUsers   whether processes of all users may be stopped
record AuditRules(long self, boolean allUsers, long toleranceBytes, Set<Long> allowUsers, Set<String> allowCommands, Stop stop,
        Set<Long> stopUsers, boolean stopAllUsers, Duration grace, Duration killAfter) {
    /// The most that contexts and code of a process may take beyond its ledger.
    private static final long UNLEARNT_BYTES = 1L << 30;
    private static final int TOLERATED_PART = 20;

    /// Programs that have a context on a GPU and compute nothing for a user. The name counts only for a file of root, outside of containers.
    private static final Set<String> SYSTEM = Set.of("Xorg", "X", "Xwayland", "gnome-shell", "kwin_wayland", "kwin_x11", "weston", "sway",
            "gamescope", "mutter", "plasmashell", "gdm-wayland-session", "nvidia-persistenced", "nvidia-cuda-mps-server",
            "nvidia-cuda-mps-control", "nv-hostengine", "nvidia-smi");

    /// Which findings are stopped.
    enum Stop {
        NEVER, UNREGISTERED, ALL;

        static final List<String> WORDS = List.of("never", "unregistered", "all");
    }

    /// Reports, and stops nothing.
    static AuditRules reporting(long self, boolean allUsers) {
        return new AuditRules(self, allUsers, 64L << 20, Set.of(), Set.of(), Stop.NEVER, Set.of(), false, Duration.ZERO, Duration.ZERO);
    }

    boolean judges(AuditedProcess process) {
        return (allUsers || process.uid() == self) && !allowUsers.contains(process.uid())
                && !allowCommands.contains(process.program()) && !allowCommands.contains(process.executable())
                && !(process.ofRoot() && process.container().isEmpty() && SYSTEM.contains(process.program()));
    }

    /// A process in another pid namespace does not find itself in NVML's list, so its ledger is never complete.
    boolean isOver(AuditedProcess process, long usedBytes, AuditLedgers.Held held) {
        long tolerated = Math.max(toleranceBytes, held.bytes() / TOLERATED_PART) + (process.isForeign() || !held.complete() ? UNLEARNT_BYTES : 0);
        return usedBytes - held.bytes() > tolerated;
    }

    boolean stops(AuditFinding finding) {
        return stop == Stop.ALL || stop == Stop.UNREGISTERED && finding.kind().equals(AuditFinding.UNKNOWN);
    }

    boolean mayStop(AuditedProcess process) {
        return judges(process) && mayStop(process.uid()) && mayStop(process.uidNow()) && process.identity().pid() > 1;
    }

    private boolean mayStop(long uid) {
        return stopAllUsers || (stopUsers.isEmpty() ? uid == self : stopUsers.contains(uid));
    }
}
