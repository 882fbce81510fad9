package sluice.cli.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import sluice.region.RegionDraft;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitKind;
import sluice.region.limits.LimitSource;
import sluice.region.place.SluiceException;

/// Reads the ordinary form of `sluice run` without building picocli's model, which would take longer than the rest of
/// the start. It has no error messages: arguments that it does not understand go to [RunCommand].
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
        private final Map<Limit, String> limits = new EnumMap<>(Limit.class);
        private String name;
        private String trace;
        private boolean simulated;
        private boolean verbose;
        private boolean agent = true;
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
            Limit limit = limit(option);
            if (limit != null && limit.kind() == LimitKind.SWITCH) {
                return limits.put(limit, "true") == null ? 1 : 0;
            }
            if (value.startsWith("-")) {
                return 0;
            }
            if (limit != null) {
                return limits.put(limit, value) == null ? 2 : 0;
            }
            if (option.equals("--name") && name == null) {
                name = value;
            } else if (option.equals("--trace") && trace == null) {
                trace = value;
            } else if (option.equals("--env") && value.indexOf('=') > 0) {
                environment.add(value);
            } else {
                return 0;
            }
            return 2;
        }

        private static Limit limit(String option) {
            for (Limit limit : Limit.values()) {
                if (limit.option().equals(option)) {
                    return limit;
                }
            }
            return null;
        }

        RunRequest request(List<String> program) {
            if (name != null) {
                RegionDraft.checkName(name);
            }
            return new RunRequest(GivenLimits.of(LimitSource.COMMAND_LINE, limits), name, simulated, environment, trace, verbose, agent, program);
        }
    }
}
