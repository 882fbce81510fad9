package sluice.it.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// `sluice run` with a limit and a program into which the library cannot be loaded: it says so before the start.
class UnloadableTest extends OnMachine {
    private static final String OTHER_USER = "64017";

    @BeforeEach
    void start() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path compiled(String name, String... options) throws Exception {
        Path source = Files.writeString(directory.resolve(name + ".c"), "#include <stdio.h>\nint main(void) { return puts(\"ran\") < 0; }\n");
        Path program = directory.resolve(name);
        List<String> command = new ArrayList<>(List.of("gcc", source.toString(), "-o", program.toString()));
        command.addAll(List.of(options));
        var outcome = machine.plain(command.toArray(String[]::new));
        assumeTrue(outcome.status() == 0, "gcc cannot make it: " + outcome.errors());
        return program;
    }

    private void assertRefused(Machine.Outcome outcome, String why) {
        assertThat(outcome.errors()).contains(why).contains("no limit would hold").contains("--on-error run");
        assertThat(outcome.status()).isEqualTo(125);
        assertThat(outcome.output()).isEmpty();
    }

    private Machine.Outcome limited(Path program) throws Exception {
        return machine.sluice("run", "--sim", "--memory", "1g", "--", program.toString());
    }

    /// As a user who does not own the file.
    private Machine.Outcome asOther(String... options) throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")) && Files.isExecutable(Path.of("/usr/bin/setpriv")), "root and setpriv are needed");
        Path run = Files.createDirectories(directory.resolve("run-of-other"));
        machine.plain("chown", OTHER_USER + ":" + OTHER_USER, run.toString());
        machine.plain("chmod", "700", run.toString());
        List<String> command = new ArrayList<>(List.of("/usr/bin/setpriv", "--reuid=" + OTHER_USER, "--regid=" + OTHER_USER, "--clear-groups",
                "env", "SLUICE_RUNTIME_DIR=" + run, Machine.HOME.resolve("bin/sluice").toString(), "run", "--sim"));
        command.addAll(List.of(options));
        return machine.plain(command.toArray(String[]::new));
    }

    @Test
    void shouldRefuseStaticProgramsUnlessTheyMayRunWithoutLimits() throws Exception {
        for (Path program : List.of(compiled("static", "-static"), compiled("static-pie", "-static-pie"))) {
            String[] before = machine.runtimeDirectory().toFile().list();
            assertRefused(limited(program), "is statically linked");
            assertThat(machine.runtimeDirectory().toFile().list()).as("no tenant of it").hasSameSizeAs(before);
            assertRefused(machine.sluice("run", "--sim", "--weight", "2", "--", program.toString()), "is statically linked");

            var warned = machine.sluice("run", "--sim", "--memory", "1g", "--on-error", "run", "--", program.toString());
            assertThat(warned.errors()).contains("is statically linked").contains("without limits").hasLineCount(1);
            assertThat(warned.output()).isEqualTo("ran\n");

            var unlimited = machine.sluice("run", "--sim", "--", program.toString());
            assertThat(unlimited.errors()).isEmpty();
            assertThat(unlimited.output()).isEqualTo("ran\n");
        }
    }

    @Test
    void shouldFollowScriptsAndThePath() throws Exception {
        Path program = compiled("interpreter", "-static");
        Path script = Files.writeString(directory.resolve("script"), "#! " + program + " -x\n");
        Path outer = Files.writeString(directory.resolve("outer"), "#!" + script + "\n");
        List.of(script, outer).forEach(file -> file.toFile().setExecutable(true));

        assertRefused(limited(script), "is a script of " + program + ", which is statically linked");
        assertRefused(limited(outer), "which is statically linked");
        assertRefused(machine.with("PATH", directory + ":/usr/bin:/bin").sluice("run", "--sim", "--memory", "1g", "--", "interpreter"), "is statically linked");
    }

    @Test
    void shouldRefuseProgramsOfAnotherCLibrary() throws Exception {
        Path program = compiled("musl");
        byte[] bytes = Files.readAllBytes(program);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        String changed = text.replaceFirst("/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1\0\0\0");
        assertThat(changed).hasSameSizeAs(text).isNotEqualTo(text);
        Files.write(program, changed.getBytes(StandardCharsets.ISO_8859_1));

        assertRefused(limited(program), "another C library than glibc (ld-musl-x86_64.so.1)");
    }

    @Test
    void shouldRefuseProgramsThatGainRights() throws Exception {
        Path program = compiled("rights");
        for (String mode : List.of("4755", "2755", "6755")) {
            machine.plain("chmod", mode, program.toString());
            assertRefused(asOther("--memory", "1g", "--", program.toString()), mode.startsWith("2") ? "is setgid" : "is setuid");
            assertThat(limited(program).output()).as("its own user gains nothing, mode " + mode).isEqualTo("ran\n");
        }
        machine.plain("chmod", "755", program.toString());
        assertThat(asOther("--memory", "1g", "--", program.toString()).output()).isEqualTo("ran\n");
        assumeTrue(machine.plain("setcap", "cap_net_raw+ep", program.toString()).status() == 0, "setcap is needed");
        assertRefused(asOther("--memory", "1g", "--", program.toString()), "has file capabilities");
        var warned = asOther("--memory", "1g", "--on-error", "run", "--", program.toString());
        assertThat(warned.errors()).contains("has file capabilities").hasLineCount(1);
        assertThat(warned.output()).isEqualTo("ran\n");
    }

    @Test
    void shouldTakeTheLinkerAndTheShellAsProgramsThatLoadIt() throws Exception {
        Path program = compiled("dynamic");
        assertThat(machine.sluice("run", "--sim", "--memory", "1g", "--", "/lib64/ld-linux-x86-64.so.2", program.toString()).output()).isEqualTo("ran\n");
        Path script = Files.writeString(directory.resolve("no-first-line"), "echo from the shell\n");
        script.toFile().setExecutable(true);
        assertThat(limited(script).output()).isEqualTo("from the shell\n");
    }
}
