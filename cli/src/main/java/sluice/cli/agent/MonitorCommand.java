package sluice.cli.agent;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import sluice.cli.output.AnyCommand;
import sluice.cuda.Nvml;
import sluice.cuda.Silence;
import sluice.region.place.SluiceException;

@Command(
        name = "monitor",
        header = "Writes one number for each GPU every 100 ms, for scripts: bytes used (mem) or percent busy (util).",
        description = {
            "",
            "The output of cuda-wrapper's monitor-mem.py and monitor-utl.py: one line for each GPU, in the order of",
            "nvidia-smi, until it is stopped. It is NVML's view of the machine, not of a tenant.",
            ""
        })
public final class MonitorCommand extends AnyCommand implements Runnable {
    private static final long FOR_EVER = 0;

    @Parameters(paramLabel = "FIGURE", arity = "1", converter = FigureConverter.class,
            description = "mem for used bytes, util for the percentage of time in which the GPU was busy.")
    private Figure figure;

    @Option(names = "--every", paramLabel = "TIME",
            description = "How often, such as 500ms or 2s; default 100ms.")
    private Duration every = Duration.ofMillis(100);

    @Option(names = "--count", paramLabel = "N", description = "Ends after so many rounds; default: never.")
    private long count = FOR_EVER;

    enum Figure { MEM, UTIL }

    @Override
    public void run() {
        if (count < 0) {
            throw new ParameterException(spec.commandLine(), "bad --count '" + count + "'; use 1 or more");
        }
        Nvml nvml = Nvml.open().orElseThrow(() -> new SluiceException(
                "no GPU can be asked: " + Nvml.LIBRARY + " is missing or finds no driver; 'sluice doctor' tells more"));
        IntToLongFunction figureOfGpu = switch (figure) {
            case MEM -> gpu -> nvml.memoryV1(gpu).usedBytes();
            case UTIL -> gpu -> busyPercent(nvml, gpu);
        };
        PrintWriter out = spec.commandLine().getOut();
        int gpus = nvml.count();
        try {
            for (long round = 1; ; round++) {
                IntStream.range(0, gpus).mapToLong(gpu -> of(gpu, figureOfGpu)).forEach(out::println);
                if (out.checkError() || round == count) {
                    return;
                }
                Thread.sleep(every);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long of(int gpu, IntToLongFunction figure) {
        try {
            return figure.applyAsLong(gpu);
        } catch (Nvml.Refused e) {
            throw new SluiceException("GPU " + gpu + ": " + Silence.of(e.status()));
        }
    }

    private static long busyPercent(Nvml nvml, int gpu) {
        int percent = nvml.utilizationPercent(gpu);
        if (percent < 0) {
            nvml.memoryV1(gpu); // one that is silent says so
            throw new SluiceException("GPU " + gpu + " does not tell how busy it is; one that is split with MIG never does");
        }
        return percent;
    }

    static final class FigureConverter implements ITypeConverter<Figure> {
        @Override
        public Figure convert(String text) {
            return switch (text) {
                case "mem" -> Figure.MEM;
                case "util", "utl" -> Figure.UTIL;
                default -> throw new SluiceException("bad figure '" + text + "'; use mem or util");
            };
        }
    }
}
