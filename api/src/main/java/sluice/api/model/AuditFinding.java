package sluice.api.model;

import java.time.Instant;

/// A process whose use of a GPU is in no ledger.
///
/// @param kind        `unknown`: it is in no ledger; `over`: it holds more than its ledger says
/// @param pid         as seen by the agent
/// @param uid         its user
/// @param tenant      empty when it has none
/// @param container   id by its cgroup; empty when it has none
/// @param usedBytes   by NVML; less than 0 when it does not tell
/// @param ledgerBytes by the ledger
/// @param action      the agent's action: `reported`, `terminated`, `killed`
public record AuditFinding(String kind, long pid, long uid, String gpuUuid, String command, String tenant, String container,
        long usedBytes, long ledgerBytes, Instant since, String action) {
    public static final String UNKNOWN = "unknown";
    public static final String OVER = "over";
    public static final String REPORTED = "reported";
    public static final String TERMINATED = "terminated";
    public static final String KILLED = "killed";
}
