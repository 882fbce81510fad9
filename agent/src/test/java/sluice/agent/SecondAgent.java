package sluice.agent;

import java.nio.file.Path;
import sluice.region.place.AgentLock;
import sluice.region.place.RuntimeDirectory;

/// Another process that takes the lock of a folder, as an agent does when it starts: status 0 when it got it, 1 when it did not.
final class SecondAgent {
    private SecondAgent() {}

    public static void main(String[] arguments) {
        boolean taken = AgentLock.take(new RuntimeDirectory(Path.of(arguments[0])), ProcessHandle.current().pid()).isPresent();
        System.exit(taken ? 0 : 1);
    }
}
