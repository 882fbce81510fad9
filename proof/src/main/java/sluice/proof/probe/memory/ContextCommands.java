package sluice.proof.probe.memory;

import sluice.cuda.Contexts;
import sluice.cuda.Devices;
import sluice.proof.facts.Facts;

/// Contexts, and their memory for modules and stacks.
public final class ContextCommands {
    private static final String MODULE = """
            .version 6.0
            .target sm_52
            .address_size 64
            .visible .global .align 4 .b8 sluice_data[%d];
            .visible .entry sluice_empty()
            {
                ret;
            }
            """;

    private ContextCommands() {}

    public static Facts run(Session session, String verb, long[] numbers) {
        Devices devices = session.driver().devices();
        Contexts contexts = session.driver().contexts();
        return switch (verb) {
            case "retain" -> PoolCommands.handle(devices.retainPrimaryContext(session.device()));
            case "release" -> PoolCommands.status(devices.releasePrimaryContext(session.device()));
            case "create" -> PoolCommands.handle(contexts.create(session.device()));
            case "destroy" -> destroy(session, numbers[0]);
            case "stack" -> PoolCommands.status(contexts.setStack(numbers[0]));
            case "load" -> PoolCommands.handle(session.driver().work().load(module(numbers[0])));
            case "load-library" -> PoolCommands.handle(session.driver().work().loadLibrary(module(numbers[0])));
            case "unload-library" -> PoolCommands.status(session.driver().work().unloadLibrary(numbers[0]));
            case "create-green" -> PoolCommands.handle(contexts.createGreen(session.device()));
            case "destroy-green" -> PoolCommands.status(contexts.destroyGreen(numbers[0]));
            case "unload" -> PoolCommands.status(session.driver().work().unload(numbers[0]));
            default -> throw new IllegalArgumentException("contexts have no command '" + verb + "'");
        };
    }

    /// PTX with a variable of this size.
    public static String module(long dataBytes) {
        return MODULE.formatted(dataBytes);
    }

    private static Facts destroy(Session session, long context) {
        int status = session.driver().contexts().destroy(context);
        session.driver().devices().setCurrent(session.context());
        return PoolCommands.status(status);
    }
}
