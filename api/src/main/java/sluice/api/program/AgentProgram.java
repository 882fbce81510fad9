package sluice.api.program;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import sluice.api.model.AuditReport;
import sluice.api.model.PlannedBoard;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// The agent, for the command line, which does not know its module. The module `sluice.agent` provides it.
public interface AgentProgram {
    static AgentProgram find() {
        return ServiceLoader.load(AgentProgram.class).findFirst()
                .orElseThrow(() -> new SluiceException("this installation has no agent; install the whole distribution"));
    }

    /// The config file that is used when none is named: the user's, or the machine's; if there is one.
    Optional<Path> usualConfig(Map<String, String> environment);

    /// Reads a config file. Without one the defaults hold. A [SluiceException] has a line for each thing that is wrong in it.
    Configured configure(Optional<Path> config);

    /// One audit by this process.
    ///
    /// @param own folders of this user's tenants
    AuditReport audit(List<RuntimeDirectory> own);

    /// An agent that has read its config file.
    interface Configured {
        /// All settings with what holds, for people.
        List<String> settings();

        /// Makes an agent that listens, and plans nothing before it is started.
        ///
        /// @param directory whose lock the caller has
        /// @param plans     gets every plan that differs from the one before
        Running open(RuntimeDirectory directory, Map<String, String> environment, Consumer<PlannedBoard> plans, PrintStream log);
    }

    /// An agent that listens.
    interface Running extends AutoCloseable {
        /// Where it answers, for people.
        String places();

        /// Begins to look and to plan.
        void start();

        @Override
        void close();
    }
}
