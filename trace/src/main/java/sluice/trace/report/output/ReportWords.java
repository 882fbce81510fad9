package sluice.trace.report.output;

import static sluice.trace.report.output.ReportUnits.part;
import static sluice.trace.report.output.ReportUnits.some;
import static sluice.trace.report.output.ReportUnits.time;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import sluice.trace.report.ReportCause;
import sluice.trace.report.ReportData;

/// The meaning of the numbers, in sentences.
final class ReportWords {
    static final String NOT_MEASURED = "No batch of work was measured, so it is not known when the GPU was busy.";

    private ReportWords() {}

    static String title(ReportData data) {
        if (!data.tenant().isEmpty()) {
            return ReportUnits.visible(data.tenant());
        }
        return data.processes().isEmpty() || data.processes().getFirst().command().isEmpty()
                ? "A trace" : ReportUnits.cut(ReportUnits.visible(data.processes().getFirst().command()), 60);
    }

    static String gpu(ReportData.Gpu gpu) {
        return "GPU " + gpu.index() + (gpu.name().isEmpty() ? "" : " (" + ReportUnits.visible(gpu.name()) + ")");
    }

    /// The trace in a few sentences.
    static List<String> headline(ReportData data) {
        List<String> sentences = new ArrayList<>();
        if (data.events() == 0) {
            sentences.add("There are no events in this trace.");
            return sentences;
        }
        for (ReportData.Gpu gpu : data.gpus()) {
            sentences.add(busy(gpu, data));
            idle(gpu).ifPresent(sentences::add);
            beside(gpu).ifPresent(sentences::add);
        }
        if (data.waitedNanos() > 0) {
            sentences.add("Calls waited " + time(data.waitedNanos()) + " at Sluice's gate, all threads together.");
        }
        if (data.failedCalls() > 0) {
            sentences.add(some(data.failedCalls(), "call") + " failed.");
        }
        return sentences;
    }

    private static String busy(ReportData.Gpu gpu, ReportData data) {
        if (!gpu.measured()) {
            return "GPU " + gpu.index() + ": " + NOT_MEASURED.substring(0, 1).toLowerCase(Locale.ROOT) + NOT_MEASURED.substring(1);
        }
        String asked = gpu.askedPermille() == 0 ? "" : "; it asked for at most " + ReportUnits.permille(gpu.askedPermille());
        return "GPU " + gpu.index() + " worked for this job during " + part(gpu.busyNanos(), data.nanos()) + " of " + time(data.nanos()) + asked + ".";
    }

    private static Optional<String> idle(ReportData.Gpu gpu) {
        if (gpu.idle().isEmpty()) {
            return Optional.empty();
        }
        ReportData.Idle most = gpu.idle().getFirst();
        return Optional.of("Of the time that it did not, " + part(most.nanos(), gpu.idleNanos()) + " was " + cause(most.cause()) + ".");
    }

    private static String cause(ReportCause cause) {
        return switch (cause) {
            case CAP, TURN, LOCK, MEMORY, FLIGHT -> "spent " + cause.text();
            case COPY -> "spent in synchronous copies";
            case SYNC -> "spent synchronising";
            case CALL -> "spent in other driver calls";
            case HOST -> "the host's, busy between calls";
            case PROGRAM -> "the program's, which made no calls";
            case DRY -> "lost between launches that were too far apart";
        };
    }

    private static Optional<String> beside(ReportData.Gpu gpu) {
        return gpu.besideEachOther()
                ? Optional.of("It did kernels side by side: their times add up to " + time(gpu.kernelNanos()) + ", " + String.format(Locale.ROOT, "%.2f",
                        (double) gpu.kernelNanos() / gpu.busyNanos()) + " times what it was busy.")
                : Optional.empty();
    }

    static String gpuTime(ReportData.Kernel kernel) {
        return kernel.gpuNanos() == 0 ? ReportUnits.UNKNOWN : about(kernel) + time(kernel.gpuNanos());
    }

    static String each(ReportData.Kernel kernel) {
        return kernel.perLaunch() == 0 ? ReportUnits.UNKNOWN : about(kernel) + time(kernel.perLaunch());
    }

    private static String about(ReportData.Kernel kernel) {
        return kernel.estimated() ? "≈ " : "";
    }

    /// The bounds of one launch's time, if they are wide.
    static String bounds(ReportData.Kernel kernel) {
        return kernel.estimated() ? time(kernel.leastNanos()) + " – " + time(kernel.mostNanos()) : "";
    }

    static Optional<String> estimates(ReportData data) {
        return data.kernels().stream().anyMatch(ReportData.Kernel::estimated)
                ? Optional.of("≈ is an estimate: no launch was measured closely enough while the GPU had nothing else to do. The time of one lies between the two that are given.")
                : Optional.empty();
    }

    /// The lost events, if there are any.
    static Optional<String> drops(ReportData data) {
        if (data.dropped() == 0) {
            return Optional.empty();
        }
        return Optional.of(some(data.dropped(), "event") + " of " + ReportUnits.count(data.events() + data.dropped()) + " ("
                + part(data.dropped(), data.events() + data.dropped())
                + ") could not be recorded. Counts and times below lack them; an idle time may be one that was not seen.");
    }
}
