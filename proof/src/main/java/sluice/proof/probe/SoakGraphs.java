package sluice.proof.probe;

import java.util.HashMap;
import java.util.Map;
import sluice.cuda.CallResult;
import sluice.cuda.Graphs;
import sluice.cuda.Status;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.GraphCommands;
import sluice.proof.probe.memory.Session;

/// Graphs that allocate and free, launched once.
final class SoakGraphs {
    private final Session session;
    private final Graphs graphs;
    private final Map<Long, Long> graphOfExecutable = new HashMap<>();

    SoakGraphs(Session session) {
        this.session = session;
        graphs = session.driver().graphs();
    }

    /// Its value is the executable graph. One that was refused is destroyed again.
    CallResult take(long bytes) {
        Facts captured = GraphCommands.run(session, "capture", new long[] {bytes});
        long graph = captured.number("handle");
        Status.check("cuStreamEndCapture", captured.status());
        CallResult executable = graphs.instantiate(graph);
        if (!executable.ok()) {
            Status.check("cuGraphDestroy", graphs.destroy(graph));
            return executable;
        }
        graphOfExecutable.put(executable.value(), graph);
        int status = graphs.launch(executable.value(), session.stream());
        if (status != Status.SUCCESS) {
            Status.check("cuGraphExecDestroy", give(executable.value()));
        }
        return new CallResult(status, executable.value());
    }

    int give(long executable) {
        int status = session.driver().work().synchronizeStream(session.stream());
        status = Math.max(status, graphs.destroyExecutable(executable));
        return Math.max(status, graphs.destroy(graphOfExecutable.remove(executable)));
    }
}
