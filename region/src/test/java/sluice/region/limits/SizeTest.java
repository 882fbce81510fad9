package sluice.region.limits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sluice.region.place.SluiceException;

class SizeTest {
    private static final Path TABLE = Path.of(System.getProperty("sluice.root"), "spec/sizes.txt");

    @TestFactory
    Stream<DynamicTest> shouldReadSizesAsTheLibraryDoes() throws Exception {
        return Files.readAllLines(TABLE).stream().filter(line -> !line.startsWith("#")).map(line -> line.split("\t", -1)).map(columns ->
                DynamicTest.dynamicTest("'" + columns[0] + "'", () -> check(columns[0], columns[1])));
    }

    private static void check(String text, String bytes) {
        if (bytes.equals("error")) {
            assertThatThrownBy(() -> Size.parse(text)).isInstanceOf(SluiceException.class).hasMessageContaining("; write ");
        } else {
            assertThat(Size.parse(text)).isEqualTo(Long.parseLong(bytes));
        }
    }

    @Test
    void shouldSayWhatToWriteInsteadOfANumberAlone() {
        assertThatThrownBy(() -> Size.parse("4")).hasMessage("size '4' has no unit; write 4g, 4m or, for bytes, 4b");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "1023, 1023 B",
        "1024, 1.0 KiB",
        "1536, 1.5 KiB",
        "4294967296, 4.0 GiB",
        "1073741823, 1.0 GiB",
        "1048064, 1023.5 KiB",
        "9223372036854775807, 8.0 EiB"
    })
    void shouldWriteSizesForPeople(long bytes, String text) {
        assertThat(Size.format(bytes)).isEqualTo(text);
    }

    @Test
    void shouldNameTheValueThatIsTooLarge() {
        assertThatThrownBy(() -> Size.parse("9999999999g")).hasMessage(
                "size '9999999999g' is too large; write it like 512m, 1.5g, 2Gi or 4GB");
    }
}
