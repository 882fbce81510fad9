package sluice.region.limits;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// The table of limits: for each its name, how people write it, what it does to [Limits], and what a policy leaves of it.
///
/// From this table come the options of `run` and `set`, keys of JSON, words of a policy, variables, `sluice top`, the dashboard and
/// `docs/limits.md`. The library reads the same variables (`native/src/tenant/switches/options.c`); a system test compares the two.
public enum Limit {
    MEMORY("memory", 'm', LimitKind.SIZE, "memoryLimitBytes", "memory", "SIZE", "6g, 0=4g,1=8g or none",
            "Memory quota on every GPU, or on some: 0=4g,1=8g.",
            "Memory quota on every GPU, or on some and the others as they are: 0=6g,1=none.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(change ? limits.memory().changed(text) : MemoryLimits.parse(text));
        }

        @Override
        public String format(Limits limits) {
            return limits.memory().toString();
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            return asked.with(asked.memory().within(policy.memory()));
        }

        @Override
        public List<Integer> gpus(String text) {
            return GpuUnit.MEMORY.named(text);
        }
    },

    ON_OOM("on-oom", 'o', LimitKind.WAIT, "oomWaitMillis", "over the quota", "fail|wait[:30s]", "fail, wait or wait:30s",
            "Over the quota: refuse the allocation (default), or let it wait until memory is freed, 60 s at the most.",
            "Over the quota: refuse the allocation, or let it wait until memory is freed, 60 s at the most.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(OnOom.parse(text));
        }

        @Override
        public String format(Limits limits) {
            return limits.onOom().toString();
        }

        /// The limit takes nothing from other jobs. So a policy only gives a default for jobs that do not set it.
        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            return named ? asked : asked.with(policy.onOom());
        }
    },

    COMPUTE("compute", 'c', LimitKind.PART, "compute.capPermille", "compute", "PERCENT", "25%, 0=25%,1=50% or none",
            "Cap on GPU time on every GPU, or on some: 0=25%,1=50%. A kernel that takes longer is repaid.",
            "Cap on GPU time on every GPU, or on some and the others as they are: 0=25%,1=none.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.compute().with(change ? limits.compute().caps().changed(text) : ComputeCaps.parse(text)));
        }

        @Override
        public String format(Limits limits) {
            return limits.compute().caps().toString();
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            return asked.with(asked.compute().with(asked.compute().caps().within(policy.compute().caps())));
        }

        @Override
        public List<Integer> gpus(String text) {
            return GpuUnit.COMPUTE.named(text);
        }
    },

    WEIGHT("weight", 'w', LimitKind.NUMBER, "compute.weight", "weight", "1..1000", "1 to 1000, or none",
            "Part of the GPU's time against the weights of others who want it now; default 1.",
            "Part of the GPU's time against the weights of others who want it now.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            boolean none = change && text.equals(NONE);
            return limits.with(none ? limits.compute().withoutWeight() : limits.compute().withWeight(ComputeLimits.parseWeight(text)));
        }

        @Override
        public String format(Limits limits) {
            return limits.compute().turns() ? Integer.toString(limits.compute().weight()) : NONE;
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            int most = policy.compute().weight();
            return asked.with(asked.compute().withWeight(named ? Math.min(asked.compute().weight(), most) : most));
        }
    },

    PRIORITY("priority", 'p', LimitKind.WORD, "compute.priority", "priority", "high|normal|low", "high, normal or low",
            "A higher one goes first, a lower one gets what is left; default normal.",
            "A higher one goes first, a lower one gets what is left.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.compute().with(Priority.parse(text)));
        }

        @Override
        public String format(Limits limits) {
            return limits.compute().priority().word();
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            boolean lower = named && asked.compute().priority().compareTo(policy.compute().priority()) < 0;
            return lower ? asked : asked.with(asked.compute().with(policy.compute().priority()));
        }
    },

    EXCLUSIVE("exclusive", 'e', LimitKind.SWITCH, "compute.exclusive", "exclusive", "true|false", "true or false",
            "Turns in the order in which tenants ask for them: the lock of older tools.",
            "Turns in the order in which tenants ask for them, or not.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.compute().withExclusive(ComputeLimits.parseExclusive(text)));
        }

        @Override
        public String format(Limits limits) {
            return Boolean.toString(limits.compute().exclusive());
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            return asked.with(asked.compute().withExclusive(policy.compute().exclusive()));
        }
    },

    TURN("turn", 't', LimitKind.TIME, "compute.turnMicros", "turn", "TIME", "100us to 1s, or none",
            "Length of its turns at weight 1, 100us to 1s; default 10ms.",
            "Length of its turns at weight 1, 100us to 1s.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.compute().withTurnMicros(change && text.equals(NONE) ? 0 : TurnLength.parse(text)));
        }

        @Override
        public String format(Limits limits) {
            return TurnLength.format(limits.compute().turnMicros());
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            boolean longer = asked.compute().turnNanos() > policy.compute().turnNanos();
            return named && !longer ? asked : asked.with(asked.compute().withTurnMicros(policy.compute().turnMicros()));
        }
    },

    STRICT("strict", 's', LimitKind.SWITCH, "compute.strict", "strict", "true|false", "true or false",
            "The cap of --compute holds in every second, inside a kernel too: the hardware takes the job's work off the GPU.",
            "The cap holds in every second, inside a kernel too, or not.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.compute().withStrict(ComputeLimits.parseExclusive(text)));
        }

        @Override
        public String format(Limits limits) {
            return Boolean.toString(limits.compute().strict());
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            return asked.with(asked.compute().withStrict(policy.compute().strict()));
        }
    },

    RESERVOIR("reservoir", 'r', LimitKind.BYTES, "host.reservoirBytes", "reservoir", "SIZE", "32g or none",
            "Host memory that its released memory may take, all processes together; default as much as there is.",
            "Host memory that its released memory may take, all processes together.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.host().withReservoir(HostLimits.bytes(text)));
        }

        @Override
        public String format(Limits limits) {
            return HostLimits.format(limits.host().reservoirBytes());
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            long most = policy.host().reservoirBytes();
            long wanted = asked.host().reservoirBytes();
            return asked.with(asked.host().withReservoir(wanted == 0 || most != 0 && most < wanted ? most : wanted));
        }
    },

    PREPARE("prepare", 'h', LimitKind.BYTES, "host.preparedBytes", "prepared", "SIZE", "16g or none",
            "Host memory that each process makes ready ahead, so that a release is quicker; default none.",
            "Host memory that each process makes ready ahead, so that a release is quicker.") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.host().withPrepared(HostLimits.bytes(text)));
        }

        @Override
        public String format(Limits limits) {
            return HostLimits.format(limits.host().preparedBytes());
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            long most = policy.host().preparedBytes();
            return asked.with(asked.host().withPrepared(named ? Math.min(asked.host().preparedBytes(), most) : most));
        }
    },

    MAPPED("mapped", ' ', LimitKind.SWITCH, "host.mapped", "mapped", "true|false", "true or false",
            "Memory that Sluice maps itself, so that it can leave the GPU while the job is paused ('sluice pause --release').", "") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(limits.host().withMapped(ComputeLimits.parseExclusive(text)));
        }

        @Override
        public String format(Limits limits) {
            return Boolean.toString(limits.host().mapped());
        }

        /// An administrator decides which jobs can be pushed out.
        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            return asked.with(asked.host().withMapped(policy.host().mapped()));
        }
    },

    ON_ERROR("on-error", ' ', LimitKind.WORD, "onError", "on error", "run|fail", "run or fail",
            "When the quota cannot be enforced: let the program run unlimited, or fail its CUDA calls (default).", "") {
        @Override
        Limits put(Limits limits, String text, boolean change) {
            return limits.with(OnError.parse(text));
        }

        @Override
        public String format(Limits limits) {
            return limits.onError().word();
        }

        /// A policy that gives any limit wants it to be enforced.
        @Override
        boolean isBoundBy(GivenLimits policy) {
            return !policy.words().isEmpty();
        }

        @Override
        Limits within(Limits asked, boolean named, Limits policy) {
            return policy.onError() == OnError.FAIL ? asked.with(OnError.FAIL) : asked;
        }
    };

    /// The word that removes a limit.
    public static final String NONE = "none";

    private final String word;
    private final char key;
    private final LimitKind kind;
    private final String field;
    private final String title;
    private final String parameter;
    private final String examples;
    private final String runHelp;
    private final String setHelp;

    Limit(String word, char key, LimitKind kind, String field, String title, String parameter, String examples, String runHelp, String setHelp) {
        this.word = word;
        this.key = key;
        this.kind = kind;
        this.field = field;
        this.title = title;
        this.parameter = parameter;
        this.examples = examples;
        this.runHelp = runHelp;
        this.setHelp = setHelp;
    }

    public static Optional<Limit> of(String word) {
        return Arrays.stream(values()).filter(limit -> limit.word.equals(word)).findFirst();
    }

    /// Those that can be changed while the tenant runs.
    public static List<Limit> changeable() {
        return Arrays.stream(values()).filter(Limit::isChangeable).toList();
    }

    public static List<String> words(List<Limit> limits) {
        return limits.stream().map(Limit::word).toList();
    }

    /// Its name in options, policies and JSON.
    public String word() {
        return word;
    }

    public String option() {
        return "--" + word;
    }

    /// The library's variable.
    public String variable() {
        return "SLUICE_" + word.replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /// The key by which `sluice top` chooses it.
    public char key() {
        return key;
    }

    public LimitKind kind() {
        return kind;
    }

    /// Where a tenant's JSON has its value.
    public String field() {
        return field;
    }

    /// Its name before a value, for people.
    public String title() {
        return title;
    }

    /// The placeholder for a value in the help.
    public String parameter() {
        return parameter;
    }

    /// The placeholder for a value that can be set while the tenant runs.
    public String examples() {
        return examples;
    }

    /// What it does, for the help of `run`.
    public String runHelp() {
        return runHelp;
    }

    /// What it does, for the help of `set`; empty when it cannot be changed.
    public String setHelp() {
        return setHelp;
    }

    /// The only values that it takes; empty where there are many.
    public List<String> choices() {
        return kind == LimitKind.WORD || kind == LimitKind.SWITCH ? List.of(parameter.split("\\|")) : List.of();
    }

    public boolean isChangeable() {
        return !setHelp.isEmpty();
    }

    /// Whether a tenant that has it takes turns.
    public boolean isOfTurns() {
        return this == WEIGHT || this == PRIORITY || this == EXCLUSIVE || this == TURN;
    }

    public boolean isOfGpuTime() {
        return this == COMPUTE || this == STRICT || isOfTurns();
    }

    /// Parses a value and replaces the old one. Throws a [SluiceException] with a message if the text is no value of this limit.
    ///
    /// @param change whether the tenant runs: then `none` removes the limit, and GPUs that are not named keep theirs
    abstract Limits put(Limits limits, String text, boolean change);

    /// Its value, for people.
    public abstract String format(Limits limits);

    /// The value for a job that asked for one under a policy that bounds this limit.
    ///
    /// @param named whether the job named it
    abstract Limits within(Limits asked, boolean named, Limits policy);

    /// A policy with any limit of turns bounds all of them: a small weight with a high priority would be no bound.
    boolean isBoundBy(GivenLimits policy) {
        return policy.names(this) || isOfTurns() && policy.limits().compute().turns();
    }

    /// The GPUs that a value is for; empty when it is for all.
    public List<Integer> gpus(String text) {
        return List.of();
    }

    /// Throws a [SluiceException] with a message if the text is no value of this limit.
    public void check(String text, boolean change) {
        put(Limits.NONE, text, change);
    }
}
