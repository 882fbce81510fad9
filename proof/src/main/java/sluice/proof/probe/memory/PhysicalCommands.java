package sluice.proof.probe.memory;

import sluice.cuda.CallResult;
import sluice.cuda.Status;
import sluice.cuda.VirtualMemory;
import sluice.proof.facts.Facts;

/// Physical memory and where it is mapped.
public final class PhysicalCommands {
    private PhysicalCommands() {}

    public static Facts run(Session session, String verb, long[] numbers) {
        VirtualMemory memory = session.driver().virtualMemory();
        return switch (verb) {
            case "create" -> PoolCommands.handle(memory.create(numbers[0], session.device()));
            case "create-tiles" -> PoolCommands.handle(memory.createTiles(numbers[0], session.device()));
            case "create-on-host" -> PoolCommands.handle(memory.createOnHost(numbers[0]));
            case "release" -> PoolCommands.status(memory.release(numbers[0]));
            case "retain" -> PoolCommands.handle(memory.retain(numbers[0]));
            case "map" -> map(session, numbers[0], numbers[1]);
            case "unmap" -> unmap(memory, numbers[0], numbers[1]);
            case "fill-up" -> fillUp(session, numbers[0]);
            default -> throw new IllegalArgumentException("physical memory has no command '" + verb + "'");
        };
    }

    /// At a new address, with access.
    static Facts map(Session session, long handle, long bytes) {
        VirtualMemory memory = session.driver().virtualMemory();
        long pointer = memory.reserve(bytes).orThrow("cuMemAddressReserve");
        int status = memory.map(pointer, bytes, handle);
        if (status == Status.SUCCESS) {
            status = memory.allowAccess(pointer, bytes, session.device());
        }
        return Facts.of("status", status, "pointer", pointer);
    }

    private static Facts unmap(VirtualMemory memory, long pointer, long bytes) {
        int status = memory.unmap(pointer, bytes);
        return PoolCommands.status(status == Status.SUCCESS ? memory.unreserve(pointer, bytes) : status);
    }

    /// Creates, maps and releases handles until one is refused: only the mappings hold the memory.
    private static Facts fillUp(Session session, long bytes) {
        VirtualMemory memory = session.driver().virtualMemory();
        int count = 0;
        CallResult created = memory.create(bytes, session.device());
        while (created.ok()) {
            Status.check("cuMemMap", map(session, created.value(), bytes).status());
            Status.check("cuMemRelease", memory.release(created.value()));
            count++;
            created = memory.create(bytes, session.device());
        }
        return Facts.of("status", created.status(), "count", count);
    }
}
