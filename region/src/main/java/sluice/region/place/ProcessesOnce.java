package sluice.region.place;

import java.util.HashMap;
import java.util.Map;

/// Keeps the kernel's answers about live processes. A process that did not exist is asked about again: the pid may be in use since.
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
