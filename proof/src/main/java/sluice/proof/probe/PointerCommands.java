package sluice.proof.probe;

import sluice.cuda.CallResult;
import sluice.cuda.Memory;
import sluice.proof.facts.Facts;
import sluice.proof.probe.memory.Session;

/// The driver's answers about pointers: whether their memory is managed, by both calls.
final class PointerCommands {
    private PointerCommands() {}

    static Facts run(Session session) {
        Memory memory = session.driver().memory();
        long managed = memory.allocateManaged(1 << 20).orThrow("cuMemAllocManaged");
        long plain = memory.allocate(1 << 20).orThrow("cuMemAlloc");
        return Facts.of(
                "managed", text(memory.isManaged(managed)), "managed-among-others", text(memory.isManagedAmongOthers(managed)),
                "plain", text(memory.isManaged(plain)), "plain-among-others", text(memory.isManagedAmongOthers(plain)));
    }

    private static String text(CallResult answer) {
        return answer.ok() ? Long.toString(answer.value()) : "status " + answer.status();
    }
}
