package sluice.cli;

import java.nio.file.InvalidPathException;
import sluice.cli.output.ExitStatus;
import sluice.cli.run.RunArguments;
import sluice.cli.run.RunProgram;
import sluice.cli.run.RunRequest;
import sluice.region.place.SluiceException;

/// The entry point. Every job starts by `sluice run`, so its ordinary form skips picocli. All other commands, and all wrong arguments, go
/// through picocli.
final class Main {
    private Main() {}

    public static void main(String[] args) {
        int status = Boolean.getBoolean("sluice.training") ? Training.run(args) : execute(args);
        System.out.flush();
        System.exit(status);
    }

    static int execute(String[] args) {
        RunRequest request = RunArguments.parse(args);
        if (request == null) {
            return Commands.execute(args);
        }
        try {
            return RunProgram.become(request);
        } catch (SluiceException | InvalidPathException e) {
            System.err.println("sluice: " + ErrorLine.of(e));
            return ExitStatus.SLUICE_FAILED;
        }
    }
}
