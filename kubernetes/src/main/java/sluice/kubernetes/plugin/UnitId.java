package sluice.kubernetes.plugin;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sluice.region.place.SluiceException;

/// A unit as kubelet names it: `GPU-1d6f…_17`.
record UnitId(String uuid, int number) implements Comparable<UnitId> {
    private static final Pattern FORM = Pattern.compile("([0-9A-Za-z-]{1,50})_([0-9]{1,6})");
    private static final int MOST = 1 << 17;

    static UnitId parse(String text) {
        Matcher found = FORM.matcher(text);
        if (!found.matches()) {
            throw new SluiceException("'" + text.substring(0, Math.min(text.length(), 63)) + "' is no unit of a GPU; they are named as GPU-UUID_NUMBER");
        }
        return new UnitId(found.group(1), Integer.parseInt(found.group(2)));
    }

    /// Each once, in order.
    static List<UnitId> parse(Collection<String> texts) {
        if (texts.size() > MOST) {
            throw new SluiceException(texts.size() + " units at once are too many");
        }
        Set<UnitId> ids = new HashSet<>();
        texts.forEach(text -> ids.add(parse(text)));
        List<UnitId> sorted = new ArrayList<>(ids);
        sorted.sort(null);
        return sorted;
    }

    static Map<String, List<UnitId>> byGpu(Collection<UnitId> ids) {
        Map<String, List<UnitId>> all = new TreeMap<>();
        ids.forEach(id -> all.computeIfAbsent(id.uuid, added -> new ArrayList<>()).add(id));
        return all;
    }

    @Override
    public int compareTo(UnitId other) {
        int order = uuid.compareTo(other.uuid);
        return order != 0 ? order : Integer.compare(number, other.number);
    }

    @Override
    public String toString() {
        return uuid + "_" + number;
    }
}
