package sluice.region.limits;

import java.util.Map;
import sluice.region.place.SluiceException;

/// All limits of one tenant, as its region holds them. The table [Limit] says how people write each of them.
public record Limits(MemoryLimits memory, ComputeLimits compute, OnOom onOom, OnError onError, HostLimits host) {
    /// A tenant without limits.
    public static final Limits NONE = new Limits(MemoryLimits.none(), ComputeLimits.NONE, OnOom.FAIL, OnError.FAIL);

    /// Of a tenant that asks nothing of host memory.
    public Limits(MemoryLimits memory, ComputeLimits compute, OnOom onOom, OnError onError) {
        this(memory, compute, onOom, onError, HostLimits.NONE);
    }

    /// Whether memory or GPU time is limited.
    public boolean isLimited() {
        return !memory.isEmpty() || compute.takesPart();
    }

    /// The limits of a tenant that runs after a change.
    /// Throws with a message if the tenant would be strict without a cap.
    ///
    /// @param words new values, as people write them
    public Limits changed(Map<Limit, String> words) {
        Limits changed = this;
        for (Map.Entry<Limit, String> word : words.entrySet()) {
            changed = word.getKey().put(changed, word.getValue(), true);
        }
        if (words.containsKey(Limit.STRICT) && changed.compute.lacksCap()) {
            throw new SluiceException("strict holds a cap, and the tenant has none; set one too, as in --compute 10% --strict");
        }
        return changed.with(changed.compute.settled());
    }

    Limits with(MemoryLimits other) {
        return new Limits(other, compute, onOom, onError, host);
    }

    Limits with(ComputeLimits other) {
        return new Limits(memory, other, onOom, onError, host);
    }

    Limits with(OnOom other) {
        return new Limits(memory, compute, other, onError, host);
    }

    Limits with(OnError other) {
        return new Limits(memory, compute, onOom, other, host);
    }

    Limits with(HostLimits other) {
        return new Limits(memory, compute, onOom, onError, other);
    }
}
