package sluice.region.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import sluice.region.Region;
import sluice.region.RegionDraft;
import sluice.region.Tenant;
import sluice.region.TestRegion;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

class ComputeLimitsTest {
    @TempDir
    private Path folder;

    static Stream<String[]> table() throws IOException {
        return Files.readAllLines(Path.of(System.getProperty("sluice.root"), "spec/shares.txt")).stream()
                .filter(line -> !line.startsWith("#") && !line.startsWith("older") && !line.isBlank())
                .map(line -> line.split("\t", -1));
    }

    /// The table that the native library is held to as well.
    @ParameterizedTest
    @MethodSource("table")
    void shouldReadWhatTheTableSays(String what, String text, String meaning) {
        if (meaning.equals("error")) {
            assertThatThrownBy(() -> read(what, text)).isInstanceOf(SluiceException.class).hasMessageContaining("; ");
        } else {
            assertThat(read(what, text)).isEqualTo(meaning);
        }
    }

    private static String read(String what, String text) {
        return switch (what) {
            case "percent" -> Integer.toString(Percent.parse(text));
            case "compute" -> caps(ComputeCaps.parse(text));
            case "weight" -> Integer.toString(ComputeLimits.parseWeight(text));
            case "priority" -> Integer.toString(Priority.parse(text).value());
            case "exclusive" -> ComputeLimits.parseExclusive(text) ? "1" : "0";
            case "turn" -> Integer.toString(TurnLength.parse(text));
            default -> throw new AssertionError("the table has a new kind of line: " + what);
        };
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "25   | part of GPU time '25' has no unit; write 25%",
        "12.5 | part of GPU time '12.5' has no unit; write 12.5%",
        "0.25 | part of GPU time '0.25' has no unit; write 25% or 0.25%",
        "1    | part of GPU time '1' has no unit; write 100% or 1%",
    })
    void shouldSayWhatToWriteInsteadOfANumberAlone(String text, String message) {
        assertThatThrownBy(() -> Percent.parse(text)).hasMessage(message);
    }

    /// One number when all GPUs have the same, else those that have a cap.
    private static String caps(ComputeCaps caps) {
        List<String> some = new ArrayList<>();
        boolean same = true;
        for (int gpu = 0; gpu < MemoryLimits.GPUS; gpu++) {
            same &= caps.permille(gpu) == caps.permille(0);
            if (caps.permille(gpu) != 0) {
                some.add(gpu + "=" + caps.permille(gpu));
            }
        }
        return same ? Integer.toString(caps.permille(0)) : String.join(" ", some);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"25%|25%", "12.5%|12.5%", "0=25%,1=50%|0=25%, 1=50%", "100%|none", "0=100%|none"})
    void shouldWriteCapsForPeople(String text, String written) {
        assertThat(ComputeCaps.parse(text)).hasToString(written);
    }

    @ParameterizedTest
    @CsvSource({"0, default (10 ms)", "5000, 5 ms", "1500, 1.5 ms", "500, 500 us", "1000000, 1 s", "250000, 250 ms"})
    void shouldWriteLengthsForPeople(int micros, String written) {
        assertThat(TurnLength.format(micros)).isEqualTo(written);
    }

    @Test
    void shouldKeepWhatTheDraftSays() throws Exception {
        ComputeLimits limits = new ComputeLimits(ComputeCaps.parse("0=25%,3=50%"), true, 3, Priority.LOW, true, 5000);
        RegionDraft draft = new RegionDraft("job", "x", Identity.self(), new Limits(MemoryLimits.none(), limits, OnOom.FAIL, OnError.FAIL));

        Tenant tenant = Tenant.read(Region.create(TestRegion.directory(folder), draft));

        assertThat(tenant.compute()).isEqualTo(limits);
    }

    @Test
    void shouldLimitNothingByDefault() throws Exception {
        Tenant tenant = Tenant.read(TestRegion.create(folder, "job", Identity.self()));

        assertThat(tenant.compute()).isEqualTo(ComputeLimits.NONE);
        assertThat(tenant.compute().turnNanos()).isEqualTo(10_000_000);
    }
}
