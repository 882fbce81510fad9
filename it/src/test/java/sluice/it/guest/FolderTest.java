package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// Sluice works wherever it lies: in a folder with spaces, with a long path, behind a link.
class FolderTest extends OnMachine {
    private static final String LONG = "a folder with spaces/" + "and-a-long-name/".repeat(10) + "sluice";

    private String launcher;

    @BeforeEach
    void reachTheDistributionThroughSuchAFolder() throws Exception {
        machine.with("SLUICE_SIM_CONTEXT", "32m");
        Path home = directory.resolve(LONG);
        Files.createDirectories(home.getParent());
        launcher = Files.createSymbolicLink(home, Machine.HOME).resolve("bin/sluice").toString();
    }

    @Test
    void shouldHoldALimit() throws Exception {
        var outcome = machine.plain(launcher, "run", "--sim", "--memory", "512m", "--", Machine.program("hog"), "--step", "64m");

        assertThat(outcome.output()).as(outcome.errors()).contains("got 7 ");
    }

    @Test
    void shouldLoadTheLibraryIntoTheProbesOfVerify() throws Exception {
        Process verify = machine.startPlain(launcher, "verify", "--sim", "alone");

        Machine.awaitLine(verify, "  ok    SLUICE_MEMORY=2g holds");
        verify.destroy();
        verify.waitFor();
    }

    /// One file of the library, as the build compiles it.
    @Test
    void shouldCompileInACheckoutInSuchAFolder() throws Exception {
        Path checkout = Files.createSymbolicLink(directory.resolve(LONG).resolveSibling("a checkout"), Machine.BUILT.resolve("../../..").toRealPath());
        Path build = Files.createDirectory(checkout.resolveSibling("a build"));

        var configured = machine.plain("cmake", "-S", checkout.resolve("native").toString(), "-B", build.toString());
        var compiled = machine.plain("make", "-C", build.toString(), "src/compute/admit.c.o");

        assertThat(configured.status()).as(configured.errors()).isZero();
        assertThat(compiled.status()).as(compiled.errors()).isZero();
    }

    @Test
    void shouldFindNothingWrong() throws Exception {
        assertThat(machine.plain(launcher, "doctor").output()).containsPattern("libsluice.so\\s+can be loaded");
    }

    @Test
    void shouldFindItsHomeThroughALinkToTheLauncher() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("a link"), Path.of(launcher));

        assertThat(machine.plain(link.toString(), "doctor").output()).containsPattern("libsluice.so\\s+can be loaded");
    }
}
