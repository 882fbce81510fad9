package sluice.it.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static sluice.it.machine.Mistake.assertMistake;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// `sluice top` in a real terminal, which is one of tmux: keys are pressed, and the screen is read.
class TopTest extends OnMachine {
    private static final long PATIENCE_MILLIS = 60_000;
    private static final String TOP = Machine.HOME.resolve("bin/sluice") + " top";

    private Process job;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(hasTmux(), "tmux is not installed");
        machine.with("LC_ALL", "C.UTF-8").with("TERM", "xterm-256color").with("NO_COLOR", "");
        job = machine.startSluice("run", "--sim", "--name", "job", "--memory", "2g", "--",
                Machine.program("hog"), "--step", "256m", "--count", "4", "--hold", "600000");
        Machine.awaitLine(job, "got ");
        tmux("-u", "-f", "/dev/null", "new-session", "-d", "-s", "top", "-x", "80", "-y", "24", "bash --norc --noprofile");
        type("PS1='ready> '; stty -g > before", "Enter");
        await(screen -> screen.contains("ready>"));
    }

    private static boolean hasTmux() throws InterruptedException {
        try {
            return new ProcessBuilder("tmux", "-V").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @AfterEach
    void end() throws Exception {
        if (job != null) {
            job.destroyForcibly().waitFor();
            tmux("kill-server");
        }
    }

    private String tmux(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("tmux", "-S", directory.resolve("tmux").toString()));
        command.addAll(List.of(arguments));
        return machine.plain(command.toArray(String[]::new)).output();
    }

    private void type(String... keys) throws Exception {
        List<String> command = new ArrayList<>(List.of("send-keys", "-t", "top"));
        command.addAll(List.of(keys));
        tmux(command.toArray(String[]::new));
    }

    private String await(Predicate<String> wanted) throws Exception {
        long patient = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        String screen = tmux("capture-pane", "-p", "-t", "top");
        while (!wanted.test(screen)) {
            assertThat(System.nanoTime()).as("the screen stays\n" + screen).isLessThan(patient);
            Thread.sleep(100);
            screen = tmux("capture-pane", "-p", "-t", "top");
        }
        return screen;
    }

    private void startTop() throws Exception {
        type("clear; " + TOP, "Enter");
        await(screen -> screen.contains("› ■ job"));
    }

    private long pidOfTop() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").endsWith("sluice.cli/sluice.cli.Main top"))
                .filter(process -> environment(process.pid()).contains(machine.runtimeDirectory().toString()))
                .findFirst().orElseThrow().pid();
    }

    private static String environment(long pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/environ"));
        } catch (IOException e) {
            return "";
        }
    }

    /// What a shell expects: its own screen, a cursor, and the modes as they were.
    private void assertGivenBack(int status) throws Exception {
        await(screen -> screen.contains("ready>") && !screen.contains("q quit"));
        type("echo status $?; stty -g > after; echo 'mo''des'", "Enter");
        await(screen -> screen.contains("status " + status) && screen.contains("modes"));
        assertThat(tmux("display", "-p", "-t", "top", "#{alternate_on} #{cursor_flag}")).startsWith("0 1");
        assertThat(directory.resolve("after")).hasSameTextualContentAs(directory.resolve("before"));
    }

    @Test
    void shouldShowTenantsAndFollowTheSizeOfTheTerminal() throws Exception {
        startTop();
        List<String> small = await(screen -> screen.contains("q quit")).lines().toList();
        assertThat(small.getFirst()).startsWith(" sluice top   1 GPU · 1 tenant · 1 process");
        assertThat(small).anyMatch(line -> line.startsWith("› ■ job") && line.contains("1.0 GiB") && line.contains("2.0 GiB"));
        assertThat(small.getLast()).startsWith(" q quit");

        tmux("resize-window", "-t", "top", "-x", "120", "-y", "40");
        List<String> large = await(screen -> screen.lines().count() == 40 && screen.lines().findFirst().orElse("").length() > 110
                && screen.lines().toList().getLast().startsWith(" q quit")).lines().toList();
        assertThat(large).anyMatch(line -> line.contains("PEAK") && line.endsWith("COMMAND"));

        tmux("resize-window", "-t", "top", "-x", "40", "-y", "10");
        await(screen -> screen.lines().count() == 10 && screen.lines().toList().getLast().startsWith(" q quit") && screen.contains("job"));
    }

    @Test
    void shouldSetALimitAfterAsking() throws Exception {
        startTop();
        type("l");
        await(screen -> screen.contains("Limits of job"));
        type("m", "6", "g", "Enter");
        await(screen -> screen.contains("Set memory of job from 2.0 GiB to 6g?"));
        assertThat(machine.sluice("inspect", "job").output()).contains("2.0 GiB");
        type("y");
        await(screen -> screen.contains("job: memory 6.0 GiB (was 2.0 GiB)"));
        assertThat(machine.sluice("inspect", "job").output()).contains("6.0 GiB (change 1)");
    }

    @Test
    void shouldGiveTheTerminalBackAtTheEnd() throws Exception {
        startTop();
        type("q");
        assertGivenBack(0);
    }

    @Test
    void shouldGiveTheTerminalBackWhenItIsTerminated() throws Exception {
        startTop();
        machine.plain("kill", "-TERM", Long.toString(pidOfTop()));
        assertGivenBack(143);
    }

    @Test
    void shouldLetTheShellHaveTheTerminalInBetween() throws Exception {
        startTop();
        type("C-z");
        await(screen -> screen.contains("Stopped"));
        assertThat(tmux("display", "-p", "-t", "top", "#{alternate_on} #{cursor_flag}")).startsWith("0 1");
        type("fg", "Enter");
        await(screen -> screen.contains("› ■ job") && screen.contains("q quit"));
        type("q");
        assertGivenBack(0);
    }

    @Test
    void shouldWriteAPageAndJsonForScripts() throws Exception {
        assertThat(machine.sluice("top", "--once", "--interval", "200ms").output()).contains("GPU 0  Sluice Simulated GPU").contains("a job").contains("1.0 GiB");
        List<String> lines = machine.sluice("top", "--once", "--json", "--interval", "200ms").lines();
        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst()).startsWith("{\"at\":").contains("\"tenantBytes\":1073741824").contains("\"tenant\":\"job\"").endsWith("}");
        assertMistake(1, "no terminal", machine.sluice("top"));
        assertMistake(2, "100ms", machine.sluice("top", "--interval", "1ms"));
    }
}
