package sluice.agent.audit;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import sluice.api.model.GpuHealth;
import sluice.cuda.NvmlHealth;

/// The faults of each GPU, in words. Xids are kept for an hour; all else is the present state.
final class AuditHealth {
    private static final long XID_SECONDS = 3600;
    private static final int XIDS_KEPT = 8;
    /// Errors of the program that ran, not of the GPU: a bad address, a bad instruction, a channel that was stopped with its program.
    private static final Set<Long> OF_PROGRAMS = Set.of(13L, 31L, 43L, 45L, 68L, 69L);

    private final BiConsumer<Integer, String> tell;
    private final Map<Integer, Deque<SeenXid>> xids = new HashMap<>();
    private final Map<Integer, Set<String>> told = new HashMap<>();

    private record SeenXid(long number, Instant at) {}

    /// @param tell receives new faults of a GPU
    AuditHealth(BiConsumer<Integer, String> tell) {
        this.tell = tell;
    }

    void see(NvmlHealth.Xid xid, Instant now) {
        tell.accept(xid.gpu(), text(xid.number()));
        Deque<SeenXid> kept = xids.computeIfAbsent(xid.gpu(), none -> new ArrayDeque<>());
        kept.removeIf(same -> same.number() == xid.number());
        kept.addLast(new SeenXid(xid.number(), now));
        if (kept.size() > XIDS_KEPT) {
            kept.removeFirst();
        }
    }

    /// All faults of a GPU. A new fault also gives an event.
    List<String> words(int gpu, NvmlHealth.Health health, Instant now) {
        List<String> lasting = lasting(health);
        Set<String> before = told.put(gpu, new HashSet<>(lasting));
        lasting.stream().filter(word -> before == null || !before.contains(word)).forEach(word -> tell.accept(gpu, word));
        List<String> all = new ArrayList<>(lasting);
        Deque<SeenXid> kept = xids.getOrDefault(gpu, new ArrayDeque<>());
        kept.removeIf(xid -> xid.at().plusSeconds(XID_SECONDS).isBefore(now));
        kept.forEach(xid -> all.add(text(xid.number())));
        if (health.slowdownCelsius() > 0 && health.temperatureCelsius() >= health.slowdownCelsius()) {
            all.add(GpuHealth.HOT + health.temperatureCelsius() + " °C, slows down at " + health.slowdownCelsius());
        }
        return all;
    }

    private static List<String> lasting(NvmlHealth.Health health) {
        List<String> words = new ArrayList<>();
        health.silence().ifPresent(silence -> words.add(silence.toString()));
        if (health.uncorrectedEcc() > 0) {
            words.add("uncorrectable ECC errors since the driver was loaded: " + health.uncorrectedEcc());
        }
        if (health.rowsPending()) {
            words.add("memory rows wait to be replaced; reset the GPU");
        }
        if (health.rowsFailed()) {
            words.add("memory rows cannot be replaced any more; replace the GPU");
        }
        if (health.slowedByHeat()) {
            words.add(GpuHealth.SLOWED + "heat");
        }
        if (health.slowedByPower()) {
            words.add(GpuHealth.SLOWED + "its power supply");
        }
        return words;
    }

    private static String text(long xid) {
        return "Xid " + xid + (OF_PROGRAMS.contains(xid) ? GpuHealth.OF_PROGRAM : "");
    }
}
