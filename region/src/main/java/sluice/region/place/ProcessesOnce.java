package sluice.region.place;

import java.util.HashMap;
import java.util.Map;

/// Keeps what the kernel said about processes that live. It is asked again about one that it did not know: the pid may have been given out since.
final class ProcessesOnce implements Processes {
    private final Map<Identity, ProcessStat> living = new HashMap<>();

    @Override
    public boolean isAlive(Identity process, long image) {
        ProcessStat seen = living.get(process);
        if (seen == null) {
            seen = ProcessStat.read(Long.toString(process.pid()));
            if (seen != null && process.isThe(seen)) {
                living.put(process, seen);
            }
        }
        return process.runs(seen, image);
    }

    @Override
    public String commandLine(Identity process) {
        return process.commandLine();
    }
}
