package sluice.cli.doctor;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Json;
import sluice.cli.output.Progress;
import sluice.cli.output.Screen;
import sluice.cli.output.Text;
import sluice.region.place.Installation;

@Command(
        name = "doctor",
        header = "Checks what this machine has and what Sluice can enforce on it, and advises on problems.",
        footer = {"", "Exit status: 0 no check fails, 1 a check fails."})
public final class DoctorCommand extends AnyCommand implements Callable<Integer> {
    private static final int WIDTH = 110;

    @Option(names = "--json", description = "Writes JSON.")
    private boolean json;

    @Option(names = "--calls", description = "Names each CUDA call whose memory is counted.")
    private boolean calls;

    @Override
    public Integer call() {
        List<Finding> findings;
        try (Progress progress = Progress.standard()) {
            progress.step("looking at the machine, its drivers and GPUs");
            findings = new Doctor(Installation.find(), System.getenv(), calls).examine();
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            writeJson(out, findings);
        } else {
            lines(findings, Screen.standard()).forEach(out::println);
        }
        boolean fails = findings.stream().anyMatch(finding -> finding.level() == Finding.Level.FAIL);
        return fails ? ExitStatus.CHECK_FAILED : ExitStatus.OK;
    }

    static List<String> lines(List<Finding> findings, Screen screen) {
        return findings.stream().flatMap(finding -> lines(finding, screen).stream()).toList();
    }

    private static List<String> lines(Finding finding, Screen screen) {
        String word = finding.level().word();
        String mark = switch (finding.level()) {
            case OK -> screen.green(word);
            case WARN -> screen.yellow(word);
            case FAIL -> screen.red(word);
        };
        List<String> lines = Text.wrap(finding.topic() + ": " + finding.text()
                + (finding.advice().isEmpty() ? "" : "; " + finding.advice()), WIDTH);
        List<String> marked = new ArrayList<>(lines.stream().map(line -> "        " + line).toList());
        marked.set(0, mark + " ".repeat(6 - word.length()) + lines.getFirst());
        return marked;
    }

    static void writeJson(PrintWriter out, List<Finding> findings) {
        Json.write(out, json -> {
            json.writeStartObject();
            json.writeArrayPropertyStart("findings");
            for (Finding finding : findings) {
                json.writeStartObject();
                json.writeStringProperty("level", finding.level().word());
                json.writeStringProperty("topic", finding.topic());
                json.writeStringProperty("text", finding.text());
                json.writeStringProperty("advice", finding.advice());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        });
    }
}
