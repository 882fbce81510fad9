package sluice.proof.checks;

import java.util.Locale;

/// Checks that belong together, under the word by which they are chosen.
public enum Group {
    QUOTA("what fits is allowed, what does not is refused", true),
    CHARGE("what is charged is what the driver takes, and it comes back", true),
    POOLS("stream-ordered memory, from the default pool and from own ones", true),
    GRAPHS("memory that graphs allocate", true),
    PHYSICAL("cuMemCreate and mappings", true),
    ARRAYS("arrays of two and three dimensions, mipmapped arrays", true),
    CONTEXTS("contexts, modules, stacks, and what the driver takes by itself", true),
    SHARED("memory that processes, GPUs or APIs have in common", true),
    VIEWS("what a tenant sees of the GPU, in CUDA and in NVML", true),
    LIMITS("limits that change while the tenant runs, and waiting for memory", true),
    PROCESSES("several processes of one tenant, and their ends", true),
    GPUS("several GPUs", true),
    FAULTS("the driver refuses, or the process dies inside it", true),
    UNCHANGED("results, error codes and times as without Sluice", false),
    COMPUTE("shares of the GPU's time: caps, weights, priorities, the lock", false),
    PAUSE("a paused tenant submits no work; its memory leaves the GPU and comes back", false),
    ALONE("the library with environment variables alone", true);

    private final String about;
    private final boolean memory;

    Group(String about, boolean memory) {
        this.about = about;
        this.memory = memory;
    }

    /// The word by which the group is chosen.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public String about() {
        return about;
    }

    /// Whether `memory` means this group, too.
    public boolean isMemory() {
        return memory;
    }

    @Override
    public String toString() {
        return word();
    }
}
