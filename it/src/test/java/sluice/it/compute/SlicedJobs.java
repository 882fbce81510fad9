package sluice.it.compute;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;
import sluice.region.Tenant;
import sluice.region.pause.TimeSlices;

/// Tests of jobs whose library controls time slices.
abstract class SlicedJobs extends OnMachine {
    static final int ENDLESS = 10_000_000;
    private static final int BURSTS = 40;

    @BeforeEach
    void turnOn() {
        machine.with("SLUICE_SLICES", "1");
    }

    Process job(String name, int kernels, int micros, String... options) throws Exception {
        return job(name, kernels, micros, "", options);
    }

    /// @param way of the program `windows`; empty: none
    Process job(String name, int kernels, int micros, String way, String[] options) throws Exception {
        Process job = machine.startSluice(concat(new String[] {"run", "--sim", "--name", name}, options,
                new String[] {"--", Machine.program("windows"), machine.kernels(), Integer.toString(kernels), Integer.toString(micros)},
                way.isEmpty() ? new String[0] : new String[] {way}));
        awaitBegun(name);
        return job;
    }

    private static String[] concat(String[]... parts) {
        return Arrays.stream(parts).flatMap(Arrays::stream).toArray(String[]::new);
    }

    private void awaitBegun(String name) throws Exception {
        for (int look = 0; look < 200; look++) {
            if (Files.exists(region(name)) && !tenant(name).gpus().isEmpty() && tenant(name).gpus().getFirst().time().begun()) {
                return;
            }
            Thread.sleep(50);
        }
    }

    private Path region(String name) {
        return machine.runtimeDirectory().resolve(name + ".region");
    }

    Tenant tenant(String name) {
        return Tenant.read(region(name));
    }

    TimeSlices slices(String name) {
        return tenant(name).processes().getFirst().slices();
    }

    TimeSlices awaitSlices(String name, long micros) throws Exception {
        for (int look = 0; look < 150 && (!slices(name).controlled() || slices(name).micros() != micros); look++) {
            Thread.sleep(20);
        }
        return slices(name);
    }

    /// The share of the GPU in percent, in one and a half seconds.
    double got(String name) throws Exception {
        var before = tenant(name).gpus().getFirst().time();
        Thread.sleep(1500);
        return tenant(name).gpus().getFirst().time().gotPermilleSince(before) / 10.0;
    }

    /// How long a burst of a millisecond takes beside the others, in milliseconds, with its pause of 20.
    double burst() throws Exception {
        Machine.Outcome done = machine.sluice("run", "--sim", "--name", "high", "--priority", "high", "--", Machine.program("windows"), machine.kernels(),
                Integer.toString(BURSTS), "1000", "--pause", "20000");
        assertThat(done.status()).isZero();
        return millis(done.output()) / BURSTS - 21;
    }

    /// What `windows` printed of the time that its kernels took.
    static double millis(String output) {
        return Double.parseDouble(output.strip().split(" ")[2]);
    }
}
