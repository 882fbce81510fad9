package sluice.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Screen;
import sluice.cli.process.Exec;
import sluice.cli.run.PreloadCheck;
import sluice.linux.ProgramCalls;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;

/// Runs the usual commands once. The build then keeps their classes loaded and linked in an AOT cache:
/// one for `sluice run`, one for all the rest. A program is not really started, because the cache is written when this
/// process ends. `dist/assemble` gives it a runtime directory of its own.
final class Training {
    private static final String[] COMMANDS = {"help", "ps", "ps --json", "inspect training", "top --once --interval 100ms", "version", "doctor", "run --memory nonsense"};

    private Training() {}

    static int run(String[] args) {
        PrintStream err = System.err;
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        try {
            if (args.length > 0) {
                runProgram();
            } else {
                runCommands();
            }
            return ExitStatus.OK;
        } catch (IOException e) {
            err.println("sluice: training failed: " + e);
            return ExitStatus.SLUICE_FAILED;
        }
    }

    private static void runProgram() throws IOException {
        Path directory = Files.createTempDirectory("sluice-training");
        String setting = "SLUICE_RUNTIME_DIR=" + directory;
        Main.execute(new String[] {"run", "--sim", "--env", setting, "--memory", "4g", "--compute", "25%", "--weight", "3",
            "--priority", "high", "--turn", "5ms", "--", "/no/such/program"});
        new PreloadCheck(new ProgramCalls(), PreloadCheck.Starter.current()).obstacle(Exec.SHELL.getBytes(StandardCharsets.US_ASCII));
        Files.delete(directory);
    }

    /// Beside a tenant on a GPU, and an agent that answers.
    private static void runCommands() throws IOException {
        RuntimeDirectory directory = RuntimeDirectory.find(System.getenv());
        RegionDraft draft = new RegionDraft("training", "", Identity.self(), OnError.FAIL, MemoryLimits.parse("4g"));
        Path file = Region.create(directory, draft);
        try (Region region = Region.openReadWrite(file)) {
            region.gpu(0).owner(1);
            region.slot(0).owner(Identity.self().word());
            runBeside(directory, Tenant.read(file));
        } finally {
            Files.delete(file);
        }
    }

    private static void runBeside(RuntimeDirectory directory, Tenant tenant) throws IOException {
        try (TrainingAgent agent = TrainingAgent.in(directory.path(), tenant)) {
            agent.start();
            PrintWriter out = new PrintWriter(OutputStream.nullOutputStream());
            for (String command : COMMANDS) {
                String[] words = command.split(" ");
                Commands.line(out, out, Screen.standard(), words).execute(words);
            }
        }
    }
}
