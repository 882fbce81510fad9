package sluice.proof.probe.memory;

import sluice.cuda.Graphs;
import sluice.cuda.Status;
import sluice.proof.facts.Facts;

/// Graphs that allocate memory.
public final class GraphCommands {
    private GraphCommands() {}

    public static Facts run(Session session, String verb, long[] numbers) {
        Graphs graphs = session.driver().graphs();
        return switch (verb) {
            case "capture" -> capture(session, numbers[0]);
            case "instantiate" -> PoolCommands.handle(graphs.instantiate(numbers[0]));
            case "launch" -> launch(session, numbers[0]);
            case "destroy" -> PoolCommands.status(graphs.destroy(numbers[0]));
            case "destroy-executable" -> PoolCommands.status(graphs.destroyExecutable(numbers[0]));
            case "trim" -> PoolCommands.status(graphs.trim(session.device()));
            default -> throw new IllegalArgumentException("graphs have no command '" + verb + "'");
        };
    }

    /// A graph that allocates memory, fills it and frees it.
    private static Facts capture(Session session, long bytes) {
        Graphs graphs = session.driver().graphs();
        long stream = session.stream();
        Status.check("cuStreamBeginCapture", graphs.beginCapture(stream));
        long pointer = session.driver().memory().allocateAsync(bytes, stream).orThrow("cuMemAllocAsync in a capture");
        Status.check("cuMemFreeAsync in a capture", session.driver().memory().freeAsync(pointer, stream));
        return PoolCommands.handle(graphs.endCapture(stream));
    }

    private static Facts launch(Session session, long executable) {
        int launched = session.driver().graphs().launch(executable, session.stream());
        int finished = session.driver().work().synchronizeStream(session.stream());
        return PoolCommands.status(launched != Status.SUCCESS ? launched : finished);
    }
}
