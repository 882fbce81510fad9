package sluice.cli.process;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// The processes that the shell counts as one job.
@SuppressWarnings("restricted")
public final class ProcessGroup {
    private static final int SIGTSTP = 20;

    private ProcessGroup() {}

    /// Stops all of them, this one included, as Ctrl-Z does.
    public static void stop() {
        Linker linker = Linker.nativeLinker();
        MethodHandle kill = linker.downcallHandle(linker.defaultLookup().find("kill").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            int failed = (int) kill.invokeExact(0, SIGTSTP);
            if (failed != 0) {
                throw new IllegalStateException("kill(0, SIGTSTP) failed");
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
