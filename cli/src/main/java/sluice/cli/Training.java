package sluice.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import sluice.agent.json.EarlierLook;
import sluice.agent.json.OnBoards;
import sluice.agent.json.TenantJson;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Json;
import sluice.cli.output.Screen;
import sluice.cli.process.Exec;
import sluice.cli.run.PreloadCheck;
import sluice.cli.tables.InspectText;
import sluice.cli.tables.PsTable;
import sluice.linux.ProgramCalls;
import sluice.region.Identity;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.RuntimeDirectory;
import sluice.region.Tenants;

/// Goes the ways of the usual commands once, so that the build can keep their classes loaded and linked in an AOT cache:
/// one for `sluice run`, one for all the rest. A program is not really started, because the cache is written when this
/// process ends.
final class Training {
    private static final String[] COMMANDS = {"help", "ps", "ps --json", "version", "doctor", "run --memory nonsense"};

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

    private static void runCommands() throws IOException {
        PrintWriter out = new PrintWriter(OutputStream.nullOutputStream());
        for (String command : COMMANDS) {
            String[] words = command.split(" ");
            Commands.line(out, out, Screen.standard(), words).execute(words);
        }
        Path directory = Files.createTempDirectory("sluice-training");
        RegionDraft draft = new RegionDraft("training", "", Identity.self(), OnError.FAIL, MemoryLimits.parse("4g"));
        Path region = Region.create(new RuntimeDirectory(directory), draft);
        Tenants tenants = new Tenants(List.of(new RuntimeDirectory(directory)));
        tenants.sweep(Instant.now());
        PsTable.lines(tenants.list(), Instant.now(), Screen.standard()).forEach(out::println);
        InspectText.lines(tenants.find("training"), OnBoards.NONE, Instant.now(), Screen.standard()).forEach(out::println);
        Json.write(out, json -> TenantJson.write(json, tenants.list(), EarlierLook.NONE, OnBoards.NONE));
        Files.delete(region);
        Files.delete(directory);
    }
}
