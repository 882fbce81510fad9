package sluice.proof.probe.memory;

import sluice.cuda.CallResult;
import sluice.cuda.Memory;
import sluice.cuda.Pools;
import sluice.proof.facts.Facts;

/// Stream-ordered memory and the pools it comes from. Everything happens in one stream.
public final class PoolCommands {
    private PoolCommands() {}

    public static Facts run(Session session, String verb, long[] numbers) {
        Pools pools = session.driver().pools();
        Memory memory = session.driver().memory();
        return switch (verb) {
            case "default" -> handle(pools.ofDevice(session.device()));
            case "create" -> handle(pools.create(session.device()));
            case "destroy" -> status(pools.destroy(numbers[0]));
            case "trim" -> status(pools.trim(numbers[0], numbers[1]));
            case "keep" -> status(pools.keep(numbers[0], numbers[1]));
            case "reserved" -> handle(pools.reservedBytes(numbers[0]));
            case "alloc" -> handle(memory.allocateAsync(numbers[0], session.stream()));
            case "alloc-from" -> handle(pools.allocate(numbers[1], numbers[0], session.stream()));
            case "free" -> status(memory.freeAsync(numbers[0], session.stream()));
            case "sync" -> status(session.driver().work().synchronizeStream(session.stream()));
            default -> throw new IllegalArgumentException("pools have no command '" + verb + "'");
        };
    }

    static Facts handle(CallResult answer) {
        return Facts.of("status", answer.status(), "handle", answer.ok() ? answer.value() : 0);
    }

    static Facts status(int status) {
        return Facts.of("status", status);
    }
}
