package sluice.proof.checks;

import static sluice.proof.stage.Stage.GIB;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import sluice.proof.facts.Expect;
import sluice.proof.facts.Facts;
import sluice.proof.stage.ProbeProcess;
import sluice.proof.stage.Stage;

/// Sluice changes nothing else: results, error codes, launches.
public final class SameAsWithoutChecks {
    private static final long SPIN_NANOS = 20_000_000;
    private static final int TRIES = 5;

    private SameAsWithoutChecks() {}

    public static List<Check> checks() {
        return List.of(
                new Check(Group.UNCHANGED, "kernels compute the same bytes", stage -> sameFacts(stage, "kernels")),
                new Check(Group.UNCHANGED, "a graph of kernels computes the same bytes", stage -> sameFacts(stage, "graph")),
                new Check(Group.UNCHANGED, "mistakes get the same error codes", stage -> sameFacts(stage, "errors")),
                new Check(Group.UNCHANGED, "a pointer to managed memory says so", SameAsWithoutChecks::pointers),
                new Check(Group.UNCHANGED, "every look-up by cuGetProcAddress gives the same function", stage -> sameFacts(stage, "look-ups")),
                new Check(Group.UNCHANGED, "signals, umask and variables of a Java program stay as they are", SameAsWithoutChecks::guest),
                new Check(Group.UNCHANGED, "a kernel takes as long as it takes", SameAsWithoutChecks::kernelTime));
    }

    private static String sameFacts(Stage stage, String command) {
        Map<String, String> without = stage.bare().ask(command).values();
        Map<String, String> with = stage.in(stage.tenant(8 * GIB)).ask(command).values();
        List<String> different = without.keySet().stream()
                .filter(key -> !without.get(key).equals(with.get(key)))
                .map(key -> key + " is " + with.get(key) + " instead of " + without.get(key))
                .toList();
        Expect.that(different.isEmpty(), String.join(", ", different));
        return without.size() > 4 ? without.size() + " answers compared" : new Facts(without).line().replace('\t', ' ');
    }

    private static String pointers(Stage stage) {
        String seen = sameFacts(stage, "pointers");
        Facts pointers = stage.in(stage.tenant(8 * GIB)).ask("pointers");
        Expect.that(pointers.text("managed").equals("1") && pointers.text("managed-among-others").equals("1")
                && pointers.text("plain").equals("0"), "they are " + seen);
        return seen;
    }

    /// The probe is a Java program, whose runtime lives on signals.
    private static String guest(Stage stage) {
        Map<String, String> without = stage.bare().ask("guest").values();
        ProbeProcess probe = stage.in(stage.tenant(8 * GIB));
        probe.alloc(GIB);
        Map<String, String> with = probe.ask("guest").values();
        without.remove("variables");
        Expect.that(with.entrySet().containsAll(without.entrySet()), with + " instead of " + without);
        String variables = with.get("variables");
        probe.ask("reset");
        Expect.that(probe.ask("guest").text("variables").equals(variables), "its environment was changed");
        return new Facts(without).line().replace('\t', ' ');
    }

    private static String kernelTime(Stage stage) {
        long without = shortest(stage.bare());
        long with = shortest(stage.in(stage.tenant(8 * GIB)));
        long least = SPIN_NANOS / 1000;
        Expect.that(without >= least * 0.95 && with >= least * 0.95 && with < without * 2,
                "a kernel of 20 ms took " + with + " µs, without the library " + without + " µs");
        return with + " µs, without the library " + without + " µs";
    }

    /// Of several tries, because the machine may have other things to do.
    private static long shortest(ProbeProcess probe) {
        return LongStream.range(0, TRIES).map(i -> probe.ask("spin", SPIN_NANOS).number("micros")).min().orElseThrow();
    }
}
