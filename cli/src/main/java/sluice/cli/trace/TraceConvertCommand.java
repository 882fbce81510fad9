package sluice.cli.trace;

import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.Progress;
import sluice.trace.export.TraceFormat;
import sluice.trace.read.TraceFolder;

@Command(
        name = "convert",
        header = "Converts a recorded trace to a file for a trace viewer.",
        description = {"", "  sluice trace convert FOLDER -o train.pftrace", ""},
        footer = {"", "Exit status: 0 written, 1 there is no trace in the folder, 2 usage."})
final class TraceConvertCommand extends AnyCommand implements Runnable {
    @Parameters(paramLabel = "FOLDER", description = "Folder that a trace was recorded to.")
    private Path folder;

    @Option(names = {"-o", "--out"}, paramLabel = "FILE", required = true,
            description = "FILE.pftrace for Perfetto, FILE.json for Chrome's viewer; with .gz at the end it is compressed.")
    private Path out;

    @Override
    public void run() {
        TraceFormat format = TraceFormat.of(out).orElseThrow(() -> new ParameterException(spec.commandLine(),
                "bad name '" + out + "'; let it end in .pftrace or .json, or with .gz after that"));
        try (TraceFolder trace = TraceFolder.open(folder)) {
            convert(trace, format, out);
            spec.commandLine().getOut().println(out + ": " + TraceCommand.summary(trace.info()));
            sayDamage(trace, spec.commandLine().getErr());
        }
    }

    /// Writes the readable part of a damaged trace.
    static void sayDamage(TraceFolder trace, PrintWriter errors) {
        trace.damage().forEach(damage -> errors.println("sluice: damaged: " + damage.text().replaceAll("\\p{Cntrl}", "?")));
        errors.flush();
    }

    static void convert(TraceFolder trace, TraceFormat format, Path file) {
        try (Progress progress = Progress.standard()) {
            format.write(trace, file, (done, all) -> progress.step(
                    String.format("writing %s: %d %%", file.getFileName(), all == 0 ? 100 : 100 * done / all)));
        }
    }
}
