package sluice.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.it.machine.Machine;
import sluice.it.machine.Machine.Outcome;
import sluice.it.machine.OnMachine;

/// The runtime directory lies on a full file system: nothing crashes, and nothing runs unlimited unless that was asked for.
@Fault(kind = Fault.Kind.EXHAUST, of = "the space for regions and boards")
class FullTest extends OnMachine {
    private Path small;

    @BeforeEach
    void needNamespaces() throws Exception {
        small = Files.createDirectory(directory.resolve("small"));
        assumeTrue(within("64k", "true").status() == 0, "this machine gives no namespaces to users");
    }

    /// The command with a runtime directory in a file system of this size.
    private Outcome within(String size, String command) throws Exception {
        return machine.plain("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs -o size=" + size + " none " + small
                + " && mkdir -m 700 " + small + "/run && export SLUICE_RUNTIME_DIR=" + small + "/run && " + command);
    }

    private static String preloaded(String settings) {
        return "LD_LIBRARY_PATH=" + Machine.SIM + " LD_PRELOAD=" + Machine.LIBRARY + " " + settings + " " + Machine.program("hog") + " --step 64m";
    }

    @Test
    void shouldStartNothingUnlimited() throws Exception {
        Outcome outcome = within("64k", Machine.HOME.resolve("bin/sluice") + " run --sim --memory 1g -- " + Machine.program("hog") + " --step 64m");

        assertThat(outcome.status()).as(outcome.errors()).isEqualTo(125);
        assertThat(outcome.errors()).contains("No space left on device");
        assertThat(outcome.output()).doesNotContain("got ");
    }

    @Test
    void shouldFailCudaCallsWhenAsked() throws Exception {
        Outcome outcome = within("64k", preloaded("SLUICE_ON_ERROR=fail SLUICE_MEMORY=1g"));

        assertThat(outcome.errors()).contains("No space left on device").contains("CUDA calls fail");
        assertThat(outcome.output()).doesNotContain("got ");
    }

    /// There is room for the region, and none for the board.
    @Test
    void shouldHoldTheQuotaWithoutABoard() throws Exception {
        Outcome outcome = within("2460k", preloaded("SLUICE_MEMORY=1g SLUICE_WEIGHT=1"));

        assertThat(outcome.output()).as(outcome.errors()).contains("got 16 ");
    }
}
