package sluice.region;

import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limits;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnError;
import sluice.region.limits.OnOom;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// The contents of a new region: its tenant and the limits.
public record RegionDraft(String tenant, String command, Identity root, Limits limits, TraceRequest trace) {
    private static final int NAME_LENGTH = 63;

    /// Of a tenant whose calls are not recorded.
    public RegionDraft(String tenant, String command, Identity root, Limits limits) {
        this(tenant, command, root, limits, TraceRequest.NONE);
    }

    /// Of a tenant whose allocations over the quota are refused at once, and whose GPU time is not limited.
    public RegionDraft(String tenant, String command, Identity root, OnError onError, MemoryLimits memory) {
        this(tenant, command, root, new Limits(memory, ComputeLimits.NONE, OnOom.FAIL, onError));
    }

    public RegionDraft {
        checkName(tenant);
    }

    /// Refuses a name that cannot be the name of a file.
    public static void checkName(String tenant) {
        boolean good = !tenant.isEmpty() && tenant.length() <= NAME_LENGTH && tenant.charAt(0) != '.' && tenant.charAt(0) != '-';
        for (int at = 0; at < tenant.length(); at++) {
            good &= nameCharacter(tenant.charAt(at));
        }
        if (!good) {
            throw new SluiceException("bad tenant name '" + tenant + "'; use 1 to " + NAME_LENGTH
                    + " letters, digits, '.', '_' or '-', not beginning with '.' or '-'");
        }
    }

    /// A name for a tenant whose user gave none: the program's and its pid.
    public static String nameFor(String program, long pid) {
        String suffix = "-" + pid;
        String base = program.substring(program.lastIndexOf('/') + 1);
        StringBuilder name = new StringBuilder();
        for (int at = 0; at < base.length() && name.length() < NAME_LENGTH - suffix.length(); at++) {
            char c = base.charAt(at);
            boolean first = name.isEmpty() && (c == '.' || c == '-');
            name.append(nameCharacter(c) && !first ? c : '_');
        }
        if (name.isEmpty()) {
            name.append("program");
        }
        return name.append(suffix).toString();
    }

    private static boolean nameCharacter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-';
    }
}
