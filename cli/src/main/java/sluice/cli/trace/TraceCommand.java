package sluice.cli.trace;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;
import sluice.cli.output.ExitStatus;
import sluice.cli.output.Progress;
import sluice.cli.output.Text;
import sluice.cli.process.Interrupt;
import sluice.cli.run.TraceTarget;
import sluice.cli.tenants.SeenTenants;
import sluice.region.Tenant;
import sluice.region.place.SluiceException;
import sluice.trace.export.TraceFormat;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceInfo;
import sluice.trace.record.TraceSession;

@Command(
        name = "trace",
        header = "Records every CUDA call of a tenant that runs.",
        customSynopsis = {"sluice trace TENANT [OPTIONS]", "       sluice trace convert FOLDER -o FILE"},
        description = {
            "",
            "  sluice trace train --for 10s -o train.pftrace",
            "",
            "Perfetto (ui.perfetto.dev) shows the file: threads with their calls and waits, streams, batches on the",
            "GPU, turns, memory. Ctrl-C ends the recording early and writes the events so far. To record from the",
            "start use 'sluice run --trace FOLDER'.",
            ""
        },
        commandListHeading = "%nMore:%n",
        footer = {"", "Exit status: 0 recorded, 1 there is no such tenant, or it has ended, 2 usage."},
        subcommands = TraceConvertCommand.class)
public final class TraceCommand extends AnyCommand implements Callable<Integer> {
    @Parameters(paramLabel = "TENANT", arity = "0..1", description = "Name, beginning of a name, pid, or path of a region file.")
    private String tenant;

    @Option(names = "--for", paramLabel = "TIME",
            description = "How long, such as 500ms, 10s or 2m; default 10s.")
    private Duration duration = Duration.ofSeconds(10);

    @Option(names = {"-o", "--out"}, paramLabel = "FILE",
            description = "FILE.pftrace for Perfetto, FILE.json for Chrome's viewer, either with .gz, or a folder for 'sluice report'; "
                    + "default TENANT.pftrace.")
    private Path out;

    @Option(names = "--events", paramLabel = "N", description = "Size of the buffer of a thread, in events; default 131072.")
    private int events;

    @Override
    public Integer call() {
        if (tenant == null) {
            throw new ParameterException(spec.commandLine(), "the tenant is missing");
        }
        if (events < 0 || events > 1 << 24) {
            throw new ParameterException(spec.commandLine(), "bad --events '" + events + "'; use 64 to " + (1 << 24));
        }
        SeenTenants tenants = new SeenTenants(System.getenv());
        Tenant found = tenants.find(tenant);
        if (!tenants.isReadable(found)) {
            throw new SluiceException("the region of '" + found.name() + "' is the agent's, and a trace needs it; let the agent's user run this "
                    + "command, or start the job with SLUICE_TRACE=FOLDER");
        }
        if (!found.state().lives()) {
            throw new SluiceException("tenant '" + found.name() + "' has ended; only a running one can be traced");
        }
        Path file = out != null ? out : Path.of(found.name() + ".pftrace");
        Optional<TraceFormat> format = Files.isDirectory(file) ? Optional.empty() : TraceFormat.of(file);
        Path folder = format.isPresent() ? TraceTarget.makeTemporary(file) : TraceTarget.make(file);
        try (Interrupt interrupt = new Interrupt()) {
            TraceSession.Outcome outcome = record(found, folder, interrupt);
            try (TraceFolder trace = TraceFolder.openEmptyToo(folder)) {
                format.ifPresent(chosen -> TraceConvertCommand.convert(trace, chosen, file));
                say(file, trace.info(), outcome);
                outcome.damage().forEach(damage -> spec.commandLine().getErr().println("sluice: " + damage + "; it was recorded up to there"));
                TraceConvertCommand.sayDamage(trace, spec.commandLine().getErr());
            }
        } finally {
            if (format.isPresent()) {
                TraceTarget.delete(folder);
            }
        }
        return ExitStatus.OK;
    }

    private TraceSession.Outcome record(Tenant found, Path folder, Interrupt interrupt) {
        try (Progress progress = Progress.standard()) {
            String all = Text.duration(duration.toNanos());
            return new TraceSession(found.file(), folder, duration, events).run(interrupt::requested, (elapsed, recorded, dropped) ->
                    progress.step(String.format("recording %s: %s of %s, %,d events, %,d dropped",
                            found.name(), Text.duration(elapsed), all, recorded, dropped)));
        }
    }

    private void say(Path file, TraceInfo info, TraceSession.Outcome outcome) {
        PrintWriter lines = spec.commandLine().getOut();
        lines.println(file + ": " + summary(info) + " in " + Text.duration(outcome.elapsedNanos()) + (outcome.ended() ? ", then the tenant ended" : ""));
        if (info.events() == 0) {
            lines.println("The tenant made no CUDA call meanwhile.");
        }
        if (info.dropped() > 0) {
            lines.println("Some events were dropped: this command read them too slowly. --events makes the buffers larger.");
        }
    }

    /// As in `12,345 events of 3 threads, none dropped`.
    static String summary(TraceInfo info) {
        int threads = info.threads().size();
        return String.format("%,d events of %d thread%s, %s dropped", info.events(), threads, threads == 1 ? "" : "s",
                info.dropped() == 0 ? "none" : String.format("%,d", info.dropped()));
    }
}
