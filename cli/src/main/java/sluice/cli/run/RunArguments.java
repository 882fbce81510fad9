package sluice.cli.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import sluice.region.RegionDraft;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.place.SluiceException;

/// Reads the ordinary form of `sluice run` without building picocli's model, which would take longer than the rest of
/// the start. It knows no error messages: whatever it does not understand it leaves to [RunCommand].
public final class RunArguments {
    private RunArguments() {}

    /// The request, or null when picocli is to look at the arguments.
    public static RunRequest parse(String[] args) {
        if (args.length < 2 || !args[0].equals("run")) {
            return null;
        }
        try {
            return read(args);
        } catch (SluiceException e) {
            return null;
        }
    }

    private static RunRequest read(String[] args) {
        Settings settings = new Settings();
        int at = 1;
        while (at < args.length && args[at].startsWith("-") && !args[at].equals("--")) {
            String value = at + 1 < args.length ? args[at + 1] : "-";
            int read = settings.read(args[at], value);
            if (read == 0) {
                return null;
            }
            at += read;
        }
        at += at < args.length && args[at].equals("--") ? 1 : 0;
        RunRequest request = at < args.length ? settings.request(Arrays.asList(args).subList(at, args.length)) : null;
        return request == null || request.mistake().isPresent() ? null : request;
    }

    private static final class Settings {
        /// Other limits are read by [ComputeSettings].
        private static final List<String> LIMITS = List.of("--memory", "--on-oom", "--on-error");

        private String memory;
        private String name;
        private String onError;
        private String onOom;
        private String trace;
        private boolean simulated;
        private boolean verbose;
        private final ComputeSettings compute = new ComputeSettings();
        private boolean agent = true;
        private final Map<String, String> asked = new TreeMap<>();
        private final List<String> environment = new ArrayList<>();

        /// How many arguments an option takes with its value; 0 when it is not understood or was there before.
        int read(String option, String value) {
            if (option.equals("--sim") && !simulated) {
                simulated = true;
                return 1;
            }
            if ((option.equals("--verbose") || option.equals("-v")) && !verbose) {
                verbose = true;
                return 1;
            }
            if (option.equals("--no-agent") && agent) {
                agent = false;
                return 1;
            }
            if (option.equals("--exclusive") && compute.exclusive == null) {
                compute.exclusive = true;
                asked.put("exclusive", "true");
                return 1;
            }
            if (value.startsWith("-")) {
                return 0;
            }
            if (option.equals("--memory") && memory == null) {
                memory = value;
            } else if (option.equals("--name") && name == null) {
                name = value;
            } else if (option.equals("--on-error") && onError == null) {
                onError = value;
            } else if (option.equals("--on-oom") && onOom == null) {
                onOom = value;
            } else if (option.equals("--trace") && trace == null) {
                trace = value;
            } else if (option.equals("--env") && value.indexOf('=') > 0) {
                environment.add(value);
            } else {
                return compute.read(option, value) ? ask(option, value) : 0;
            }
            return LIMITS.contains(option) ? ask(option, value) : 2;
        }

        private int ask(String option, String value) {
            asked.put(option.substring(2), value);
            return 2;
        }

        RunRequest request(List<String> program) {
            if (name != null) {
                RegionDraft.checkName(name);
            }
            return new RunRequest(
                    memory == null ? MemoryLimits.none() : MemoryLimits.parse(memory), compute.limits(), name, simulated, environment,
                    onError == null ? OnError.FAIL : OnError.parse(onError),
                    onOom == null ? OnOom.FAIL : OnOom.parse(onOom), trace, verbose, agent, asked, program);
        }
    }
}
