package sluice.proof.probe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;
import sluice.cuda.Driver;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.ArrayCommands;
import sluice.proof.probe.memory.ContextCommands;
import sluice.proof.probe.memory.GraphCommands;
import sluice.proof.probe.memory.KeepCommands;
import sluice.proof.probe.memory.MemoryCommands;
import sluice.proof.probe.memory.PhysicalCommands;
import sluice.proof.probe.memory.PoolCommands;
import sluice.proof.probe.memory.Session;
import sluice.proof.probe.memory.SharingCommands;

/// A small CUDA program under remote control: reads a command per line, answers with a line of facts.
///
/// It knows nothing of Sluice. Its parent decides whether the library is in front of the driver.
/// Arguments: how to find the driver's symbols, then optionally one command to run instead of reading commands.
public final class Probe {
    private static final String HELLO = "hello";

    private Probe() {}

    public static void main(String[] arguments) throws IOException {
        Session session = new Session(Driver.Route.valueOf(arguments[0]));
        if (arguments.length > 1) {
            System.out.println(once(session, Arrays.copyOfRange(arguments, 1, arguments.length)).line());
            return;
        }
        System.out.println(Facts.of(HELLO, ProcessHandle.current().pid()).line());
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            System.out.println(answer(session, command.split(" ")).line());
        }
    }

    private static Facts once(Session session, String[] command) {
        Facts opened = answer(session, new String[] {"open"});
        return opened.has("error") || opened.status() != 0 ? opened : answer(session, command);
    }

    private static Facts answer(Session session, String[] command) {
        String[] arguments = Arrays.copyOfRange(command, 1, command.length);
        try {
            return run(session, command[0], arguments);
        } catch (Exception | AssertionError failed) {
            return Facts.of("error", failed);
        }
    }

    private static Facts run(Session session, String name, String[] arguments) throws Exception {
        return switch (name) {
            case "open" -> session.open(arguments.length == 0 ? 0 : (int) number(arguments, 0));
            case "reset" -> session.reset();
            case "release" -> session.release();
            case "device" -> session.describe();
            case "nvml" -> NvmlCommands.gpu();
            case "nvml-views" -> NvmlCommands.views();
            case "nvml-gpus" -> NvmlCommands.gpus();
            case "nvml-processes" -> NvmlCommands.processes();
            case "where" -> WhereCommand.run(session, arguments[0]);
            case "pool" -> PoolCommands.run(session, arguments[0], numbers(arguments));
            case "graph-memory" -> GraphCommands.run(session, arguments[0], numbers(arguments));
            case "physical" -> PhysicalCommands.run(session, arguments[0], numbers(arguments));
            case "array" -> ArrayCommands.run(session, arguments[0], numbers(arguments));
            case "share" -> SharingCommands.run(session, arguments);
            case "context" -> ContextCommands.run(session, arguments[0], numbers(arguments));
            case "soak" -> SoakCommands.run(session, arguments[0], numbers(arguments));
            case "open-at" -> StartCommands.openAt(session, number(arguments, 0));
            case "alloc" -> MemoryCommands.alloc(session, number(arguments, 0));
            case "alloc-at" -> MemoryCommands.allocAt(session, number(arguments, 0), number(arguments, 1));
            case "pitch" -> MemoryCommands.pitch(session, number(arguments, 0), number(arguments, 1));
            case "managed" -> MemoryCommands.managed(session, number(arguments, 0));
            case "free" -> MemoryCommands.free(session, number(arguments, 0));
            case "info" -> MemoryCommands.info(session);
            case "info-null" -> MemoryCommands.infoNull(session);
            case "many" -> MemoryCommands.many(session, number(arguments, 0), number(arguments, 1));
            case "mix" -> MemoryCommands.mix(session, number(arguments, 0), number(arguments, 1), number(arguments, 2));
            case "free-held" -> MemoryCommands.freeHeld(session, arguments[0]);
            case "fill-up" -> MemoryCommands.fillUp(session, number(arguments, 0));
            case "threads" -> StressCommands.threads(session, number(arguments, 0), number(arguments, 1));
            case "churn" -> StressCommands.churn(session, number(arguments, 0));
            case "pointers" -> PointerCommands.run(session);
            case "look-ups" -> LookUpCommand.run();
            case "guest" -> GuestCommands.status();
            case "rename" -> GuestCommands.rename(String.join(" ", arguments));
            case "errors" -> ErrorCommands.all(session);
            case "kernels" -> WorkCommands.kernels(session);
            case "graph" -> WorkCommands.graph(session);
            case "spin" -> WorkCommands.spin(session, number(arguments, 0));
            case "capture" -> WorkCommands.capture(session, (int) number(arguments, 0));
            case "keep" -> KeepCommands.run(session, arguments[0], numbers(arguments));
            case "steady" -> SteadyCommands.run(session, arguments[0], numbers(arguments));
            case "load" -> LoadCommands.run(session, arguments[0], arguments);
            case "spawn" -> ProcessCommands.spawn(arguments);
            case "exec" -> ProcessCommands.exec();
            case "time-begin" -> TimingCommands.begin(arguments);
            case "time-slice" -> TimingCommands.slice((int) number(arguments, 0));
            case "time-end" -> TimingCommands.end();
            default -> throw new IllegalArgumentException("the probe has no command '" + name + "'");
        };
    }

    /// The words after the verb.
    private static long[] numbers(String[] arguments) {
        return Arrays.stream(arguments).skip(1).mapToLong(Long::parseLong).toArray();
    }

    private static long number(String[] arguments, int index) {
        return Long.parseLong(arguments[index]);
    }
}
