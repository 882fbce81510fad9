package sluice.cli.run;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import sluice.region.limits.ComputeLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitKind;

/// The options of `run` and `set` that are limits, made from the table of limits.
public final class LimitOptions {
    private LimitOptions() {}

    public static void addForRun(CommandSpec command) {
        for (Limit limit : Limit.values()) {
            command.addOption(limit.kind() == LimitKind.SWITCH ? described(limit, limit.runHelp()).type(Boolean.class).build() : withValue(limit, false));
        }
    }

    public static void addForSet(CommandSpec command) {
        for (Limit limit : Limit.changeable()) {
            command.addOption(limit.kind() == LimitKind.SWITCH ? described(limit, limit.setHelp()).type(Boolean.class).negatable(true).arity("0..1")
                    .paramLabel(limit.parameter()).fallbackValue("true").converters(ComputeLimits::parseExclusive).build() : withValue(limit, true));
        }
    }

    private static OptionSpec.Builder described(Limit limit, String help) {
        return OptionSpec.builder(limit.option()).description(help.replace("%", "%%"));
    }

    private static OptionSpec withValue(Limit limit, boolean change) {
        OptionSpec.Builder option = described(limit, change ? limit.setHelp() : limit.runHelp()).type(String.class).paramLabel(limit.parameter());
        List<String> choices = limit.choices();
        if (!choices.isEmpty()) {
            option.completionCandidates(choices);
        }
        return option.converters(text -> {
            limit.check(text, change);
            return text;
        }).build();
    }

    /// The given options, as they were written.
    public static Map<Limit, String> given(CommandSpec command) {
        Map<Limit, String> given = new EnumMap<>(Limit.class);
        for (Limit limit : Limit.values()) {
            OptionSpec option = command.findOption(limit.option());
            if (option != null && option.getValue() != null) {
                given.put(limit, option.getValue().toString());
            }
        }
        return given;
    }
}
