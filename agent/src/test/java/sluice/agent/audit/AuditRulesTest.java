package sluice.agent.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sluice.region.place.Identity;

/// Whom the audit judges and stops, among processes of several users and containers.
class AuditRulesTest {
    private static final long AGENT = 998;
    private static final long ALICE = 1001;
    private static final long BOB = 1002;

    private static AuditedProcess process(long pid, long uid, long uidNow, String file, String container) {
        return new AuditedProcess(Identity.of(pid, 4711), uid, uidNow, pid, file, file.startsWith("/usr/"), file, container);
    }

    private static AuditedProcess python(long uid, long uidNow) {
        return process(77, uid, uidNow, "/usr/bin/python3", "");
    }

    private static AuditRules stopping(Set<Long> users, boolean allUsers) {
        return new AuditRules(AGENT, true, 0, Set.of(), Set.of(), AuditRules.Stop.ALL, users, allUsers, Duration.ZERO, Duration.ZERO);
    }

    @Test
    void shouldStopOnlyProcessesWhoseUsersAreAllNamed() {
        AuditRules rules = stopping(Set.of(ALICE), false);

        assertThat(rules.mayStop(python(ALICE, ALICE))).isTrue();
        assertThat(rules.mayStop(python(BOB, BOB))).isFalse();
        assertThat(rules.mayStop(python(ALICE, 0))).as("alice started it, it has root's rights now").isFalse();
        assertThat(rules.mayStop(python(0, ALICE))).as("root started it, it has alice's rights now").isFalse();
        assertThat(stopping(Set.of(ALICE, 0L), false).mayStop(python(ALICE, 0))).isTrue();
    }

    @Test
    void shouldStopItsOwnUserIfNoneIsNamed() {
        assertThat(stopping(Set.of(), false).mayStop(python(AGENT, AGENT))).isTrue();
        assertThat(stopping(Set.of(), false).mayStop(python(AGENT, ALICE))).isFalse();
        assertThat(stopping(Set.of(), false).mayStop(python(ALICE, ALICE))).isFalse();
        assertThat(stopping(Set.of(), true).mayStop(python(ALICE, BOB))).isTrue();
    }

    @Test
    void shouldNeverStopInit() {
        assertThat(stopping(Set.of(), true).mayStop(process(1, 0, 0, "/usr/bin/bash", ""))).isFalse();
        assertThat(stopping(Set.of(), true).mayStop(process(2, 0, 0, "/usr/bin/bash", ""))).isTrue();
    }

    /// In a container root's files are whatever the container's owner put there.
    @Test
    void shouldTrustTheNameOfADisplayServerOutsideOfContainersOnly() {
        AuditRules rules = AuditRules.reporting(AGENT, true);

        assertThat(rules.judges(process(77, 0, 0, "/usr/bin/Xorg", ""))).isFalse();
        assertThat(rules.judges(process(77, 0, 0, "/usr/bin/Xorg", "0123456789ab"))).isTrue();
        assertThat(rules.judges(process(77, 0, 0, "/home/alice/Xorg", ""))).as("not root's file").isTrue();
        assertThat(rules.judges(process(77, 0, 0, "/usr/bin/python3", ""))).isTrue();
    }
}
