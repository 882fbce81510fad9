package sluice.cli.top;

import java.util.Arrays;
import java.util.Optional;
import sluice.region.LimitsChange;
import sluice.region.Tenant;
import sluice.region.limits.CapsChange;
import sluice.region.limits.ComputeChange;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.MemoryChange;
import sluice.region.limits.OnOom;
import sluice.region.limits.Priority;
import sluice.region.limits.TurnLength;

/// The limits that can be set, with the words and values of `sluice set`.
enum TopLimit {
    MEMORY('m', "memory", "6g, 0=4g,1=8g or none"),
    COMPUTE('c', "compute", "25%, 0=25%,1=50% or none"),
    WEIGHT('w', "weight", "1 to 1000, or none"),
    PRIORITY('p', "priority", "high, normal or low"),
    EXCLUSIVE('e', "exclusive", "true or false"),
    TURN('t', "turn", "100us to 1s, or none"),
    ON_OOM('o', "on-oom", "fail, wait or wait:30s");

    private static final String NONE = "none";

    private final char key;
    private final String word;
    private final String examples;

    TopLimit(char key, String word, String examples) {
        this.key = key;
        this.word = word;
        this.examples = examples;
    }

    static Optional<TopLimit> of(int key) {
        return Arrays.stream(values()).filter(limit -> limit.key == key).findFirst();
    }

    char key() {
        return key;
    }

    String word() {
        return word;
    }

    /// What can be written.
    String examples() {
        return examples;
    }

    /// Reads a new value; throws with a sentence when it is none.
    LimitsChange parse(String written) {
        String text = written.strip();
        return switch (this) {
            case MEMORY -> LimitsChange.ofMemory(MemoryChange.parse(text));
            case ON_OOM -> LimitsChange.ofOnOom(OnOom.parse(text));
            case COMPUTE -> compute(Optional.of(CapsChange.parse(text)), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
            case WEIGHT -> turns(Optional.of(text.equals(NONE) ? 0 : ComputeLimits.parseWeight(text)), Optional.empty(), Optional.empty(), Optional.empty());
            case PRIORITY -> turns(Optional.empty(), Optional.of(Priority.parse(text)), Optional.empty(), Optional.empty());
            case EXCLUSIVE -> turns(Optional.empty(), Optional.empty(), Optional.of(ComputeLimits.parseExclusive(text)), Optional.empty());
            case TURN -> turns(Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(text.equals(NONE) ? 0 : TurnLength.parse(text)));
        };
    }

    private static LimitsChange turns(Optional<Integer> weight, Optional<Priority> priority, Optional<Boolean> exclusive, Optional<Integer> turnMicros) {
        return compute(Optional.empty(), weight, priority, exclusive, turnMicros);
    }

    private static LimitsChange compute(Optional<CapsChange> caps, Optional<Integer> weight, Optional<Priority> priority,
            Optional<Boolean> exclusive, Optional<Integer> turnMicros) {
        return LimitsChange.ofCompute(new ComputeChange(caps, weight, priority, exclusive, turnMicros));
    }

    /// Its value now, for people.
    String of(Tenant tenant) {
        ComputeLimits compute = tenant.compute();
        return switch (this) {
            case MEMORY -> tenant.limits().toString();
            case ON_OOM -> tenant.onOom().toString();
            case COMPUTE -> compute.caps().toString();
            case WEIGHT -> compute.turns() ? Integer.toString(compute.weight()) : NONE;
            case PRIORITY -> compute.priority().word();
            case EXCLUSIVE -> Boolean.toString(compute.exclusive());
            case TURN -> TurnLength.format(compute.turnMicros());
        };
    }
}
