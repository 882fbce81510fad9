package sluice.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

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
        Main.execute(new String[] {"run", "--sim", "--env", setting, "--memory", "4g", "--", "/no/such/program"});
        Files.delete(directory);
    }

    private static void runCommands() {
        PrintWriter out = new PrintWriter(OutputStream.nullOutputStream());
        for (String command : COMMANDS) {
            Commands.line(out, out, Screen.standard()).execute(command.split(" "));
        }
    }
}
