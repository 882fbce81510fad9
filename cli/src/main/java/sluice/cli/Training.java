package sluice.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/// Goes the ways of the usual commands once, so that the build can keep their classes loaded and linked in the AOT
/// cache. A program is not really started, because the cache is written when this process ends.
final class Training {
    private Training() {}

    static int run() {
        PrintStream err = System.err;
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        try {
            Path directory = Files.createTempDirectory("sluice-training");
            String setting = "SLUICE_RUNTIME_DIR=" + directory;
            Main.execute(new String[] {"run", "--sim", "--env", setting, "--memory", "4g", "--", "/no/such/program"});
            PrintWriter out = new PrintWriter(OutputStream.nullOutputStream());
            for (String command : new String[] {"help", "ps", "ps --json", "version", "doctor", "run --memory nonsense"}) {
                Commands.line(out, out, Screen.standard()).execute(command.split(" "));
            }
            Files.delete(directory);
            return ExitStatus.OK;
        } catch (IOException e) {
            err.println("sluice: training failed: " + e);
            return ExitStatus.SLUICE_FAILED;
        }
    }
}
