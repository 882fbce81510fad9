package sluice.codegen.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sluice.codegen.Checkout;
import sluice.codegen.text.Problems;

/// Today's layouts extend those of the version that `spec/compatible.txt` names: as long as the layout has the same number, nothing of it has moved.
class CompatibleTest {
    private static final Path SPEC = Checkout.spec();

    private static String commit() throws IOException {
        return Files.readAllLines(SPEC.resolve("compatible.txt")).stream().filter(line -> line.startsWith("commit "))
                .findFirst().orElseThrow().substring("commit ".length()).strip();
    }

    private static LayoutSpec base(LayoutFile file) throws Exception {
        Process git = new ProcessBuilder("git", "-C", SPEC.toString(), "show", commit() + ":spec/" + file.fileName())
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String text = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Assumptions.assumeTrue(git.waitFor() == 0, "commit " + commit() + " of spec/compatible.txt is not in this checkout; fetch it: git fetch --unshallow");
        return LayoutParser.parse(file, file.fileName(), text.lines().toList(), new Problems());
    }

    private static LayoutSpec today(LayoutFile file) throws IOException {
        return LayoutParser.parse(file, file.fileName(), Files.readAllLines(SPEC.resolve(file.fileName())), new Problems());
    }

    @ParameterizedTest
    @EnumSource(value = LayoutFile.class, names = {"REGION", "BOARD"})
    void shouldMoveNothingWithinALayout(LayoutFile file) throws Exception {
        LayoutSpec base = base(file);
        LayoutSpec today = today(file);
        Assumptions.assumeTrue(base.layout() == today.layout(), file.fileName() + " has layout " + today.layout() + " now; record a new commit in spec/compatible.txt");

        assertThat(differences(base, today)).isEmpty();
    }

    @Test
    void shouldSeeWhatMoved() throws Exception {
        LayoutSpec today = today(LayoutFile.REGION);
        String text = Files.readString(SPEC.resolve("region.abi"));
        LayoutSpec moved = LayoutParser.parse(LayoutFile.REGION, "", text.replace("record share 256", "record share 128")
                .replaceFirst("  priority +\\| i32", "  priority | u32").replaceFirst("(?m)^  calls  .*\n", "").lines().toList(), new Problems());
        LayoutSpec more = LayoutParser.parse(LayoutFile.REGION, "", text.replaceFirst("(?m)^revision \\d+$", "revision " + (today.revision() + 1))
                .replaceFirst("(?m)^(record slot .*\n(?:  .*\n)+)", "$1  depth since " + (today.revision() + 1) + " | u64 | library | atomic | how far | -\n").lines().toList(), new Problems());

        assertThat(differences(today, moved)).contains("record share has 128 bytes instead of 256", "field limits.priority is u32 at 216 instead of i32 at 216",
                "field slot.calls is gone");
        assertThat(differences(today, more)).isEmpty();
    }

    private static List<String> differences(LayoutSpec base, LayoutSpec today) {
        var differences = new ArrayList<String>();
        if (base.fileBytes() != today.fileBytes()) {
            differences.add("the file has " + today.fileBytes() + " bytes instead of " + base.fileBytes());
        }
        Map<String, LayoutSpec.Record> records = today.records().stream().collect(Collectors.toMap(LayoutSpec.Record::name, Function.identity()));
        for (var record : base.records()) {
            var now = records.get(record.name());
            if (now == null || now.bytes() != record.bytes()) {
                differences.add("record %s has %d bytes instead of %d".formatted(record.name(), now == null ? 0 : now.bytes(), record.bytes()));
                continue;
            }
            for (var field : record.fields()) {
                now.fields().stream().filter(it -> it.name().equals(field.name())).findFirst().ifPresentOrElse(it -> {
                    if (it.offset() != field.offset() || !it.type().equals(field.type())) {
                        differences.add("field %s.%s is %s at %d instead of %s at %d".formatted(record.name(), field.name(), it.type().word(), it.offset(),
                                field.type().word(), field.offset()));
                    }
                }, () -> differences.add("field " + record.name() + "." + field.name() + " is gone"));
            }
            now.fields().stream().filter(it -> it.since() <= base.revision() && record.fields().stream().noneMatch(field -> field.name().equals(it.name())))
                    .forEach(it -> differences.add("field %s.%s is new; write: %s since %d, and revision %d".formatted(record.name(), it.name(), it.name(),
                            base.revision() + 1, base.revision() + 1)));
        }
        for (int at = 0; at < base.places().size(); at++) {
            var place = base.places().get(at);
            var now = at < today.places().size() ? today.places().get(at) : null;
            if (now == null || !now.record().name().equals(place.record().name()) || now.offset() != place.offset() || now.count() != place.count()) {
                differences.add("place %d is not %s at %d any more".formatted(at, place.record().name(), place.offset()));
            }
        }
        for (int bit = 0; bit < base.features().size(); bit++) {
            var feature = base.features().get(bit);
            if (bit >= today.features().size() || !today.features().get(bit).name().equals(feature.name())) {
                differences.add("bit %d is not the feature %s any more".formatted(bit, feature.name()));
            }
        }
        return differences;
    }
}
