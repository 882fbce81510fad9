package sluice.proof.facts;

import java.util.LinkedHashMap;
import java.util.Map;

/// The list of processes that a probe reports: `pid:bytes`, separated by commas.
public final class GpuProcesses {
    private GpuProcesses() {}

    public static Map<Long, Long> parse(String list) {
        Map<Long, Long> processes = new LinkedHashMap<>();
        for (String one : list.isEmpty() ? new String[0] : list.split(",")) {
            int colon = one.indexOf(':');
            processes.put(Long.parseLong(one, 0, colon, 10), Long.parseLong(one, colon + 1, one.length(), 10));
        }
        return processes;
    }
}
