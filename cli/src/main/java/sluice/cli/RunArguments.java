package sluice.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sluice.region.MemoryLimits;
import sluice.region.OnError;
import sluice.region.RegionDraft;
import sluice.region.SluiceException;

/// Reads the ordinary form of `sluice run` without building picocli's model, which would take longer than the rest of
/// the start. It knows no error messages: whatever it does not understand it leaves to [RunCommand].
final class RunArguments {
    private RunArguments() {}

    /// The request, or null when picocli is to look at the arguments.
    static RunRequest parse(String[] args) {
        if (args.length < 2 || !args[0].equals("run")) {
            return null;
        }
        String memory = null;
        String name = null;
        String onError = "fail";
        boolean simulated = false;
        List<String> environment = new ArrayList<>();
        int at = 1;
        while (at < args.length && args[at].startsWith("-") && !args[at].equals("--")) {
            if (args[at].equals("--sim")) {
                simulated = true;
                at++;
                continue;
            }
            if (at + 1 == args.length || args[at + 1].startsWith("-")) {
                return null;
            }
            String value = args[at + 1];
            switch (args[at]) {
                case "--memory" -> memory = value;
                case "--name" -> name = value;
                case "--on-error" -> onError = value;
                case "--env" -> environment.add(value);
                default -> {
                    return null;
                }
            }
            at += 2;
        }
        at += at < args.length && args[at].equals("--") ? 1 : 0;
        return at < args.length ? request(memory, name, simulated, environment, onError, Arrays.asList(args).subList(at, args.length)) : null;
    }

    private static RunRequest request(
            String memory, String name, boolean simulated, List<String> environment, String onError, List<String> program) {
        try {
            for (String setting : environment) {
                if (setting.indexOf('=') < 1) {
                    return null;
                }
            }
            if (name != null) {
                RegionDraft.checkName(name);
            }
            MemoryLimits limits = memory == null ? MemoryLimits.none() : MemoryLimits.parse(memory);
            return new RunRequest(limits, name, simulated, environment, OnError.parse(onError), program);
        } catch (SluiceException e) {
            return null;
        }
    }
}
