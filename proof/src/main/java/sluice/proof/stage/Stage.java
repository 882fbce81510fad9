package sluice.proof.stage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import sluice.cuda.Driver;
import sluice.proof.facts.CheckFailed;
import sluice.proof.facts.CheckSkipped;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.region.place.RuntimeDirectory;

/// Where a check happens: an empty folder for regions and, when simulated, a fresh GPU; closing it ends every probe.
@SuppressWarnings("exports")
public final class Stage implements AutoCloseable {
    public static final long MIB = 1L << 20;
    public static final long GIB = 1L << 30;
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final int DELETIONS = 50;
    private static final List<String> JAVA_OPTION_VARIABLES =
            List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

    private final Environment environment;
    private final Path folder;
    private final List<ProbeProcess> probes = new CopyOnWriteArrayList<>();
    private final Thread owner = Thread.currentThread();
    private final AtomicInteger tenants = new AtomicInteger();
    private final AtomicInteger launched = new AtomicInteger();
    private final AtomicInteger files = new AtomicInteger();

    public Stage(Environment environment) {
        this.environment = environment;
        try {
            folder = Files.isWritable(SHARED_MEMORY)
                    ? Files.createTempDirectory(SHARED_MEMORY, "sluice-proof-")
                    : Files.createTempDirectory("sluice-proof-");
        } catch (IOException failed) {
            throw new UncheckedIOException("cannot make a folder for the proof", failed);
        }
        try {
            Interruption.enter(this);
        } catch (Interrupted e) {
            end();
            throw e;
        }
    }

    public Environment environment() {
        return environment;
    }

    public RuntimeDirectory runtimeDirectory() {
        return new RuntimeDirectory(folder);
    }

    public TestTenant tenant(long quotaBytes) {
        return TestTenant.create(runtimeDirectory(), "tenant-" + tenants.incrementAndGet(), quotaBytes);
    }

    /// A tenant with a quota for each GPU.
    public TestTenant tenant(long[] limits) {
        return TestTenant.create(runtimeDirectory(), "tenant-" + tenants.incrementAndGet(), limits);
    }

    /// A probe without the library, with a context.
    public ProbeProcess bare() {
        return open(start(plainSettings()));
    }

    /// A probe of the tenant, with a context.
    public ProbeProcess in(TestTenant tenant) {
        return in(tenant, Driver.Route.DLSYM);
    }

    public ProbeProcess in(TestTenant tenant, Driver.Route route) {
        return atWork(tenant, launch(ProbeCommand.quick(route), settings(tenant)));
    }

    public ProbeProcess in(TestTenant tenant, Map<String, String> moreSettings) {
        Map<String, String> all = settings(tenant);
        all.putAll(moreSettings);
        return atWork(tenant, start(all));
    }

    private static ProbeProcess atWork(TestTenant tenant, ProbeProcess probe) {
        open(probe);
        Expect.that(tenant.has(probe.pid()),
                "the library is not at work: a program that uses CUDA does not show in its tenant's region");
        return probe;
    }

    /// A probe with the library and nothing but these settings, without a context.
    public ProbeProcess alone(Map<String, String> settings) {
        Map<String, String> all = preloaded();
        all.putAll(settings);
        ProbeProcess probe = start(all);
        Expect.that(probe.maps(environment.library()), environment.library() + " is not loaded by LD_PRELOAD");
        return probe;
    }

    public ProbeProcess start(Map<String, String> settings) {
        return launch(ProbeCommand.quick(Driver.Route.DLSYM), settings);
    }

    public ProbeProcess launch(List<String> command, Map<String, String> settings) {
        ProbeProcess probe = ProbeProcess.start(command, settings, folder.resolve("stderr-" + launched.incrementAndGet()));
        probes.add(probe);
        return probe;
    }

    /// A probe for long loads with a context: of a tenant with these terms, or without the library if there are none.
    public ProbeProcess busy(Terms terms) {
        return terms.words().isEmpty()
                ? open(launch(ProbeCommand.busy(), busySettings(plainSettings())))
                : busy(terms, Map.of());
    }

    public ProbeProcess busy(Terms terms, Map<String, String> moreSettings) {
        Map<String, String> settings = busySettings(preloaded());
        settings.put("SLUICE_ON_ERROR", "fail");
        settings.putAll(terms.variables());
        settings.putAll(moreSettings);
        return open(launch(ProbeCommand.busy(), settings));
    }

    /// The same by `sluice run`, without a context.
    public ProbeProcess launchBusy(Terms terms, Path launcher) {
        if (terms.words().isEmpty()) {
            return launch(ProbeCommand.busy(), busySettings(plainSettings()));
        }
        List<String> command = new ArrayList<>(List.of(launcher.toString(), "run", "--name", "tenant-" + tenants.incrementAndGet()));
        command.addAll(terms.options());
        command.addAll(environment.simulated() ? List.of("--sim", "--") : List.of("--"));
        command.addAll(ProbeCommand.busy());
        Map<String, String> settings = busySettings(plainSettings());
        settings.put(RuntimeDirectory.VARIABLE, folder.toString());
        return launch(command, settings);
    }

    /// Gives a probe of [#launchBusy] its context.
    public ProbeProcess opened(ProbeProcess probe, Terms terms) {
        open(probe);
        Expect.that(terms.words().isEmpty() || probe.maps(environment.library()), environment.library() + " is not loaded by sluice run");
        return probe;
    }

    /// The simulated GPU's copies move real bytes, which takes the host longer than the time that is booked for them: a
    /// slow link lets small copies take as long as large ones on a real one.
    private Map<String, String> busySettings(Map<String, String> settings) {
        if (environment.simulated()) {
            settings.put("SLUICE_SIM_LINK", "2g");
        }
        return settings;
    }

    /// A file of this name that does not exist yet.
    public Path file(String name) {
        return folder.resolve(name + "-" + files.incrementAndGet());
    }

    /// A call that the library leaves to the driver is a way around the quota; one that the driver lacks is none.
    public void needHook(ProbeProcess probe, String... symbols) {
        for (String symbol : symbols) {
            String file = probe.ask("where", symbol).text("file");
            if (file.isEmpty()) {
                throw new CheckSkipped("this driver has no " + symbol);
            }
            Expect.that(isLibrary(file), "the library leaves " + symbol + " to the driver");
        }
    }

    public boolean hooks(ProbeProcess probe, String symbol) {
        return isLibrary(probe.ask("where", symbol).text("file"));
    }

    private boolean isLibrary(String file) {
        return file.endsWith("/" + environment.library().getFileName());
    }

    /// A probe that has ended and need not be ended with the stage.
    public void forget(ProbeProcess probe) {
        probes.remove(probe);
    }

    public static ProbeProcess open(ProbeProcess probe) {
        Facts opened = probe.ask("open");
        if (opened.status() != 0) {
            throw new CheckFailed("a probe cannot use the GPU: " + opened.line());
        }
        return probe;
    }

    public Map<String, String> settings(TestTenant tenant) {
        Map<String, String> settings = preloaded();
        settings.put("SLUICE_REGION", tenant.file().toString());
        settings.put("SLUICE_ON_ERROR", "fail");
        return settings;
    }

    public Map<String, String> preloaded() {
        Map<String, String> settings = plainSettings();
        settings.put("LD_PRELOAD", environment.library().toString());
        settings.put(RuntimeDirectory.VARIABLE, folder.toString());
        return settings;
    }

    /// The environment of this process without anything that limits a GPU or talks to the Java runtime.
    public Map<String, String> plainSettings() {
        Map<String, String> settings = new HashMap<>(System.getenv());
        settings.keySet().removeIf(name -> name.startsWith("SLUICE_") && !name.startsWith("SLUICE_SIM_") && !name.equals(TestTenant.MAPPED)
                || name.startsWith("CUDA_DEVICE_MEMORY_LIMIT") || name.equals("LD_PRELOAD"));
        settings.keySet().removeAll(JAVA_OPTION_VARIABLES);
        environment.simulatedDriver().ifPresent(driver -> {
            settings.merge("LD_LIBRARY_PATH", driver.toString(), (old, own) -> own + ":" + old);
            settings.put("SLUICE_SIM_STATE", folder.resolve("simulated-gpu").toString());
        });
        return settings;
    }

    @Override
    public void close() {
        try {
            end();
        } finally {
            Interruption.leave(this);
        }
    }

    /// Ends a wait of the thread that opened it.
    void wake() {
        owner.interrupt();
    }

    /// Processes that a probe has started may still write for a moment.
    void end() {
        probes.forEach(ProbeProcess::close);
        for (int attempt = 0; Files.exists(folder) && attempt < DELETIONS; attempt++) {
            if (attempt > 0) {
                Interruption.pause();
            }
            delete();
        }
        if (Files.exists(folder)) {
            System.err.println("sluice: cannot delete " + folder + "; delete it yourself");
        }
    }

    private void delete() {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException changing) {
            // The next attempt sees what is left.
        }
    }
}
