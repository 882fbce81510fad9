package sluice.region;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Predicate;
import sluice.region.layout.LimitsView;
import sluice.region.limits.ComputeChange;
import sluice.region.limits.MemoryChange;
import sluice.region.limits.MemoryLimits;
import sluice.region.limits.OnOom;
import sluice.region.place.SluiceException;

/// A change of the limits of a tenant that runs. It holds from the next allocation and the next call that submits work on.
public record LimitsChange(Optional<MemoryChange> memory, Optional<OnOom> onOom, ComputeChange compute) {

    public static LimitsChange ofMemory(MemoryChange memory) {
        return new LimitsChange(Optional.of(memory), Optional.empty(), ComputeChange.NONE);
    }

    public static LimitsChange ofOnOom(OnOom onOom) {
        return new LimitsChange(Optional.empty(), Optional.of(onOom), ComputeChange.NONE);
    }

    public static LimitsChange ofCompute(ComputeChange compute) {
        return new LimitsChange(Optional.empty(), Optional.empty(), compute);
    }

    public boolean isEmpty() {
        return memory.isEmpty() && onOom.isEmpty() && compute.isEmpty();
    }

    /// As [#apply(Path)], for a tenant that was seen. Its file may have become another's since.
    public Tenant apply(Tenant seen) {
        return apply(seen.file(), before -> before.uid() == seen.uid() && before.createdNanos() == seen.createdNanos());
    }

    /// Writes the limits, then the word that counts their changes, and returns what the region says afterwards.
    public Tenant apply(Path file) {
        return apply(file, before -> true);
    }

    private Tenant apply(Path file, Predicate<Tenant> expected) {
        try (ChangeLock _ = ChangeLock.of(file); Region region = Region.openReadWrite(file)) {
            Tenant before = new TenantReader(region).read();
            if (!expected.test(before)) {
                throw new SluiceException("the region " + file + " is another tenant's now; look again");
            }
            if (!before.state().lives()) {
                throw new SluiceException("tenant '" + before.name() + "' has ended; only the limits of a running one can be set");
            }
            LimitsView limits = region.limits();
            memory.ifPresent(change -> write(limits, change.appliedTo(before.limits())));
            onOom.ifPresent(choice -> {
                limits.oomWaitMillis(choice.waitMillis());
                limits.onOom(choice.waits() ? 1 : 0);
            });
            if (!compute.isEmpty()) {
                compute.appliedTo(before.compute()).write(limits);
            }
            if (compute.caps().isPresent()) {
                limits.capWhenShared(0);
            }
            limits.addEpoch(1);
            return new TenantReader(region).read();
        }
    }

    private static void write(LimitsView limits, MemoryLimits memory) {
        for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
            limits.memoryBytes(gpu, memory.bytes(gpu));
        }
    }
}
