package sluice.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.concurrent.TimeUnit;
import sluice.cli.process.RawProcess;
import sluice.cli.process.Variables;
import sluice.region.layout.RegionLayout;
import sluice.region.limits.Size;
import sluice.region.place.AgentLock;
import sluice.region.place.Installation;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// Checks everything that Sluice needs on this machine. Each check stands alone, so one failure hides no other.
final class Doctor {
    private static final long ROOM_FOR_REGIONS = 16 * RegionLayout.REGION_BYTES;

    private final Installation installation;
    private final Map<String, String> environment;
    private final boolean names;
    private final List<Finding> findings = new ArrayList<>();

    /// @param names whether it names each call whose memory is counted
    Doctor(Installation installation, Map<String, String> environment, boolean names) {
        this.installation = installation;
        this.environment = environment;
        this.names = names;
    }

    List<Finding> examine() {
        machine();
        findings.addAll(new GpuDoctor(installation, new Variables(RawProcess.environment())).examine());
        library();
        runtimeDirectory();
        enforcement();
        return findings;
    }

    private void machine() {
        findings.add(Finding.ok("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version")
                + " " + System.getProperty("os.arch")));
        findings.add(Finding.ok("Java", Runtime.version() + " in " + System.getProperty("java.home")));
    }

    private void library() {
        Path library = installation.library();
        if (!Files.isReadable(library)) {
            findings.add(Finding.fail("library", library + " is missing", "build or install Sluice again"));
            return;
        }
        String complaint = preload(installation);
        findings.add(complaint.isEmpty()
                ? Finding.ok("library", library + " can be loaded")
                : Finding.fail("library", library + " cannot be loaded: " + complaint, "build it on this machine, or install one that fits it"));
    }

    /// The dynamic linker's messages when it loads the library into a program.
    private static String preload(Installation installation) {
        ProcessBuilder program = new ProcessBuilder("/bin/true").redirectErrorStream(true);
        try {
            program.environment().put("LD_PRELOAD", installation.loadable().library().toString());
            Process process = program.start();
            String output = new String(process.getInputStream().readAllBytes()).strip();
            boolean ended = process.waitFor(10, TimeUnit.SECONDS);
            return ended && process.exitValue() != 0 ? "status " + process.exitValue() + " " + output : output;
        } catch (IOException | SluiceException e) {
            return e.getMessage();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    private void runtimeDirectory() {
        try {
            Path path = RuntimeDirectory.find(environment).path();
            long free = Files.getFileStore(path).getUsableSpace();
            String text = path + ", " + Size.format(free) + " free";
            findings.add(free >= ROOM_FOR_REGIONS
                    ? Finding.ok("runtime directory", text)
                    : Finding.warn("runtime directory", text, "a tenant needs " + Size.format(RegionLayout.REGION_BYTES)
                            + "; free space there, or set " + RuntimeDirectory.VARIABLE));
        } catch (SluiceException e) {
            String[] parts = e.getMessage().replaceFirst("^runtime directory ", "").split("; ", 2);
            findings.add(Finding.fail("runtime directory", parts[0], parts.length > 1 ? parts[1] : ""));
        } catch (IOException e) {
            findings.add(Finding.fail("runtime directory", e.getMessage(), "set " + RuntimeDirectory.VARIABLE + " to a directory of your own"));
        }
    }

    private Finding agents() {
        List<String> running = new ArrayList<>();
        for (RuntimeDirectory directory : existing()) {
            AgentLock.holder(directory).ifPresent(pid -> running.add("pid " + pid + " plans turns for " + directory.path()));
        }
        return Finding.ok("agent", running.isEmpty()
                ? "none runs; turns are as long as a job asks for times its weight"
                : String.join(", ", running));
    }

    private List<RuntimeDirectory> existing() {
        try {
            return RuntimeDirectory.existing(environment);
        } catch (SluiceException e) {
            return List.of();
        }
    }

    static Finding enforced(HookList hooks, boolean names) {
        return Finding.ok("enforced", "memory of " + calls(hooks.enforced("charge"), names) + "; told as the tenant's own by "
                + calls(hooks.enforced("query"), names) + (names ? "" : " (--calls names them)"));
    }

    private static String calls(SortedSet<String> which, boolean names) {
        return names ? String.join(", ", which) : which.size() + (which.size() == 1 ? " call" : " calls");
    }

    private void enforcement() {
        HookList hooks = HookList.read();
        SortedSet<String> open = hooks.notYet("charge");
        findings.add(enforced(hooks, names));
        if (!open.isEmpty()) {
            findings.add(Finding.warn("not enforced yet", "Sluice does not count memory that is taken by " + String.join(", ", open),
                    "leave room on the GPU for programs that use them"));
        }
        SortedSet<String> unseen = hooks.notYet("launch");
        unseen.addAll(hooks.notYet("copy"));
        findings.add(unseen.isEmpty()
                ? Finding.ok("shares", "GPU time of every call that submits work, for jobs that ask for a share")
                : Finding.warn("shares", "GPU time is not measured for work from " + String.join(", ", unseen),
                        "do not rely on a cap for programs that use them"));
        findings.add(agents());
        findings.add(Finding.ok("bypass", "a program can avoid a preloaded library on purpose; use Sluice among users who trust each other."
                + " Programs that are statically linked, setuid, setgid or have file capabilities cannot load it; 'sluice run' with a limit refuses them"));
    }
}
