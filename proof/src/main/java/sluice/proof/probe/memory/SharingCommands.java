package sluice.proof.probe.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import sluice.cuda.Sharing;
import sluice.proof.facts.Facts;

/// Memory of another process, and objects that stand for memory of several GPUs.
public final class SharingCommands {
    private static final long PIDFD_OPEN = 434;
    private static final long PIDFD_GETFD = 438;

    private SharingCommands() {}

    public static Facts run(Session session, String[] arguments) throws IOException {
        Sharing sharing = session.driver().sharing();
        return switch (arguments[0]) {
            case "export" -> exported(sharing.export(number(arguments, 1)));
            case "open" -> PoolCommands.handle(sharing.open(arguments[1]));
            case "close" -> PoolCommands.status(sharing.close(number(arguments, 1)));
            case "write" -> PoolCommands.status(session.driver().memory().setBytes(number(arguments, 1), (int) number(arguments, 2), number(arguments, 3)));
            case "read" -> read(session, number(arguments, 1));
            case "create" -> PoolCommands.handle(session.driver().virtualMemory().createToExport(number(arguments, 1), session.device()));
            case "export-physical" -> PoolCommands.handle(sharing.exportPhysical(number(arguments, 1)));
            case "import-physical" -> PoolCommands.handle(sharing.importPhysical(fileOf(number(arguments, 1), number(arguments, 2))));
            case "import-external" -> PoolCommands.handle(
                    sharing.importExternal(fileOf(number(arguments, 1), number(arguments, 2)), number(arguments, 3)));
            case "destroy-external" -> PoolCommands.status(sharing.destroyExternal(number(arguments, 1)));
            case "multicast" -> PoolCommands.handle(sharing.createMulticast((int) number(arguments, 1), number(arguments, 2)));
            case "add-device" -> PoolCommands.status(sharing.addDevice(number(arguments, 1), session.device()));
            case "bind" -> PoolCommands.status(sharing.bind(number(arguments, 1), number(arguments, 2), number(arguments, 3)));
            case "unbind" -> PoolCommands.status(sharing.unbind(number(arguments, 1), session.device(), number(arguments, 2)));
            default -> throw new IllegalArgumentException("nothing is shared by '" + arguments[0] + "'");
        };
    }

    private static Facts exported(Sharing.Exported exported) {
        return Facts.of("status", exported.status(), "handle", exported.handle());
    }

    private static Facts read(Session session, long pointer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment seen = arena.allocate(1);
            int status = session.driver().memory().copyToHost(seen, pointer);
            return Facts.of("status", status, "value", seen.get(JAVA_BYTE, 0));
        }
    }

    private static long number(String[] arguments, int index) {
        return Long.parseLong(arguments[index]);
    }

    /// An open file of another process, as this process's own.
    private static int fileOf(long pid, long descriptor) throws IOException {
        long process = call(PIDFD_OPEN, pid, 0, 0);
        long own = process < 0 ? -1 : call(PIDFD_GETFD, process, descriptor, 0);
        if (own < 0) {
            throw new IOException("this system does not let a process have the files of another");
        }
        return (int) own;
    }

    @SuppressWarnings("restricted")
    private static long call(long number, long first, long second, long third) {
        Linker linker = Linker.nativeLinker();
        MethodHandle call = linker.downcallHandle(linker.defaultLookup().find("syscall").orElseThrow(),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.firstVariadicArg(1));
        try {
            return (long) call.invokeExact(number, first, second, third);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
