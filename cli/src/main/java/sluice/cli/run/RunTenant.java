package sluice.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.api.client.RunRegistration;
import sluice.cli.process.RawProcess;
import sluice.cli.process.Variables;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenants;
import sluice.region.TraceRequest;
import sluice.region.boards.Boards;
import sluice.region.limits.Limit;
import sluice.region.limits.OnError;
import sluice.region.place.Identity;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// The tenant that a program becomes. If the machine has an agent, the agent makes it: then the machine's policy holds, and the tenant
/// takes turns with those of other users. Otherwise it is a region in the user's own folder.
///
/// @param variables by which the library finds it; an empty value unsets a variable
/// @param limited   whether any limit holds
/// @param region    file to delete when the program cannot be started, or null
record RunTenant(Map<String, String> variables, boolean limited, OnError onError, Path region) {
    private static final String AGENT = "SLUICE_AGENT";
    private static final String REGION = "SLUICE_REGION";

    static RunTenant make(RunRequest request, Variables environment, List<byte[]> program) {
        String name = request.name() != null ? request.name() : RegionDraft.nameFor(RawProcess.text(program.getFirst()), Identity.self().pid());
        if (request.verbose()) {
            System.err.println("sluice: " + name + ": " + request.understood());
        }
        Path trace = request.trace() == null ? null : TraceTarget.make(Path.of(request.trace()));
        Optional<RunRegistration> agent = request.agent() ? agent(environment) : Optional.empty();
        if (agent.isPresent()) {
            try {
                return registered(agent.get(), request, environment.value("SLUICE_LABEL"), name, commandLine(program), trace);
            } catch (RunRegistration.Unanswered e) {
                if (agent.get().mustFail()) {
                    throw new SluiceException(e.getMessage() + "; this machine runs no job without it, ask its administrator");
                }
                System.err.println("sluice: " + e.getMessage() + "; the job has the limits of this command, and shares hold among your own jobs");
            }
        } else if (request.limits().compute().takesPart()) {
            System.err.println("sluice: " + (request.agent() ? "no agent of the machine runs" : "the machine's agent is not asked")
                    + ", so shares of GPU time hold among your own jobs only");
        }
        return ownRegion(request, environment, program, name, trace);
    }

    /// A user that names a runtime directory is separate from the machine's agent, unless the user names an agent too.
    private static Optional<RunRegistration> agent(Variables environment) {
        String named = environment.value(AGENT);
        if (named != null) {
            return named.isEmpty() ? Optional.empty() : Optional.of(RunRegistration.at(Path.of(named)));
        }
        String directory = environment.value(RuntimeDirectory.VARIABLE);
        return directory == null || directory.isEmpty() ? RunRegistration.ofMachine() : Optional.empty();
    }

    private static RunTenant registered(RunRegistration agent, RunRequest request, String label, String name, String command, Path trace)
            throws RunRegistration.Unanswered {
        RunRegistration.Granted granted = agent.register(label, name, command, request.given());
        if (!granted.less().isEmpty()) {
            System.err.println("sluice: " + granted.less());
        }
        Map<String, String> variables = new HashMap<>(Map.of(AGENT, agent.socket().toString(), REGION, "", Limit.ON_ERROR.variable(), granted.onError().word()));
        if (trace != null) {
            variables.put("SLUICE_TRACE", trace.toString());
        }
        return new RunTenant(variables, granted.limited(), granted.onError(), null);
    }

    private static RunTenant ownRegion(RunRequest request, Variables environment, List<byte[]> program, String name, Path trace) {
        RuntimeDirectory directory = RuntimeDirectory.find(environment.value(RuntimeDirectory.VARIABLE), ThisProcess.current().uid());
        Tenants.sweepSometimes(directory, Instant.now());
        Path region = Region.create(directory, new RegionDraft(name, commandLine(program), Identity.self(), request.limits(),
                trace == null ? TraceRequest.NONE : TraceRequest.spool(trace)));
        if (request.limits().compute().takesPart()) {
            Boards.takePlansBack(directory);
        }
        return new RunTenant(Map.of(REGION, region.toString(), Limit.ON_ERROR.variable(), request.limits().onError().word()), request.isLimited(), request.limits().onError(), region);
    }

    private static String commandLine(List<byte[]> program) {
        StringBuilder line = new StringBuilder();
        for (byte[] word : program) {
            line.append(line.isEmpty() ? "" : " ").append(RawProcess.text(word));
        }
        return line.toString();
    }

    /// A tenant that the agent has made ends with this process.
    void discard() {
        try {
            if (region != null) {
                Files.deleteIfExists(region);
            }
        } catch (IOException e) {
            // It is swept with the ended tenants.
        }
    }
}
