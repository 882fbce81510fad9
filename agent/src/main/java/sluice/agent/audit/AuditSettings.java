package sluice.agent.audit;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sluice.agent.settings.CoreSettings;
import sluice.agent.settings.Setting;
import sluice.agent.settings.Settings;

/// The settings of the audit.
final class AuditSettings {
    private static final long EVERYBODY = -1;

    static final Setting<Duration> EVERY = Setting.time("audit-every", "1s", Duration.ofMillis(100), Duration.ofSeconds(2),
            "how often processes on GPUs are compared with ledgers");
    static final Setting<Long> TOLERANCE = Setting.size("audit-tolerance", "64m",
            "by how much a process may be above its ledger; 5 % of the ledger if that is more");
    static final Setting<List<Long>> ALLOW_USERS = Setting.list("audit-allow-users", "", CoreSettings::user,
            "users, by name or number, who need no ledger");
    static final Setting<List<String>> ALLOW_COMMANDS = Setting.list("audit-allow-commands", "", text -> text,
            "programs that need no ledger: full paths, or names of files, which anybody can give");
    static final Setting<String> STOP = Setting.word("audit-stop", "never", AuditRules.Stop.WORDS,
            "what is stopped: nothing, processes in no ledger, or those above their ledger too");
    static final Setting<List<Long>> STOP_USERS = Setting.list("audit-stop-users", "", text -> text.equals("all") ? EVERYBODY : CoreSettings.user(text),
            "whose processes may be stopped, or all; if empty those of the agent's user");
    static final Setting<Duration> GRACE = Setting.time("audit-grace", "10s", Duration.ZERO, Duration.ofHours(24),
            "how long a finding stands before SIGTERM");
    static final Setting<Duration> KILL_AFTER = Setting.time("audit-kill-after", "10s", Duration.ZERO, Duration.ofHours(1),
            "how long after SIGTERM comes SIGKILL");

    static final List<Setting<?>> ALL = List.of(EVERY, TOLERANCE, ALLOW_USERS, ALLOW_COMMANDS, STOP, STOP_USERS, GRACE, KILL_AFTER);

    private AuditSettings() {}

    /// @param self the agent's user
    static AuditRules rules(Settings settings, long self) {
        Set<Long> users = new HashSet<>(settings.get(STOP_USERS));
        boolean everybody = users.remove(EVERYBODY);
        return new AuditRules(self, settings.get(CoreSettings.ALL_USERS), settings.get(TOLERANCE), Set.copyOf(settings.get(ALLOW_USERS)),
                Set.copyOf(settings.get(ALLOW_COMMANDS)), AuditRules.Stop.values()[AuditRules.Stop.WORDS.indexOf(settings.get(STOP))],
                users, everybody, settings.get(GRACE), settings.get(KILL_AFTER));
    }
}
