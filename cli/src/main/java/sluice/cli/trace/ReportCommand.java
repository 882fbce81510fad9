package sluice.cli.trace;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.Progress;
import sluice.region.place.SluiceException;
import sluice.trace.read.TraceFolder;
import sluice.trace.report.ReportBuilder;
import sluice.trace.report.ReportData;
import sluice.trace.report.output.ReportHtml;
import sluice.trace.report.output.ReportJson;
import sluice.trace.report.output.ReportText;

@Command(
        name = "report",
        header = "Reports the GPU use of a traced job, and where its time went.",
        description = {"", "Writes one page that needs no other file: FOLDER/report.html. With --text or --json it prints the same numbers.", ""},
        footer = {"", "Exit status: 0 written, 1 there is no trace in the folder, 2 usage."})
public final class ReportCommand extends AnyCommand implements Runnable {
    @Parameters(paramLabel = "FOLDER", description = "Folder that a trace was recorded to.")
    private Path folder;

    @Option(names = {"-o", "--out"}, paramLabel = "FILE", description = "Writes to this file.")
    private Path out;

    @Option(names = "--text", description = "Text for a terminal instead of a page.")
    private boolean text;

    @Option(names = "--json", description = "JSON instead of a page.")
    private boolean json;

    @Override
    public void run() {
        if (text && json) {
            throw new ParameterException(spec.commandLine(), "--text and --json exclude each other");
        }
        ReportData data = read();
        String report = text ? ReportText.of(data) : json ? ReportJson.of(data) : ReportHtml.of(data);
        PrintWriter screen = spec.commandLine().getOut();
        if (out == null && (text || json)) {
            screen.print(report);
            screen.flush();
            return;
        }
        Path file = out == null ? folder.resolve("report.html") : out;
        write(file, report);
        ReportText.summary(data).forEach(screen::println);
        screen.println("written to " + file);
    }

    private ReportData read() {
        try (Progress progress = Progress.standard()) {
            progress.step("looking at " + folder);
            try (TraceFolder trace = TraceFolder.open(folder)) {
                return ReportBuilder.of(trace, (done, all) -> progress.bar("reading the trace", done, all));
            }
        }
    }

    private static void write(Path file, String report) {
        try {
            Files.writeString(file, report);
        } catch (IOException e) {
            throw new SluiceException("cannot write " + file + " (" + SluiceException.reason(e) + "); choose another file with -o", e);
        }
    }
}
