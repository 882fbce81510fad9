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

/// The agent as a service for the command line, which does not depend on its module. The module `sluice.agent` provides it.
public interface AgentProgram {
    static AgentProgram find() {
        return ServiceLoader.load(AgentProgram.class).findFirst()
                .orElseThrow(() -> new SluiceException("this installation has no agent; install the whole distribution"));
    }

    /// The config file that is used when none is named: the user's, or the machine's; if there is one.
    Optional<Path> usualConfig(Map<String, String> environment);

    /// Reads a config file. Without a file the defaults hold. A [SluiceException] has a line for each error in the file.
    Configured configure(Optional<Path> config);

    /// One audit by this process.
    ///
    /// @param own folders of this user's tenants
    AuditReport audit(List<RuntimeDirectory> own);

    /// An agent that has read its config file.
    interface Configured {
        /// All settings with their values, for people.
        List<String> settings();

        /// Makes an agent that listens. It makes no plan before it is started.
        ///
        /// @param directory whose lock the caller has
        /// @param plans     gets every plan that differs from the one before
        Running open(RuntimeDirectory directory, Map<String, String> environment, Consumer<PlannedBoard> plans, PrintStream log);
    }

    /// An agent that listens.
    interface Running extends AutoCloseable {
        /// The addresses at which it answers, for people.
        String places();

        /// Begins to look at boards and to plan.
        void start();

        @Override
        void close();
    }
}
