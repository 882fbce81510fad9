package sluice.it.machine;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/// A test on a machine of its own. Processes that it started end with it.
public abstract class OnMachine {
    @TempDir
    protected Path directory;

    protected Machine machine;

    @BeforeEach
    protected final void makeMachine() throws IOException {
        machine = new Machine(directory);
    }

    @AfterEach
    protected final void endProcesses() throws InterruptedException {
        machine.close();
    }
}
