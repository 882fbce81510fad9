package sluice.cli.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class VariablesTest {
    private static Variables of(String... variables) {
        return new Variables(Stream.of(variables).map(text -> text.getBytes(StandardCharsets.ISO_8859_1)).toList());
    }

    private static List<String> text(Variables variables) {
        return variables.list().stream().map(bytes -> new String(bytes, StandardCharsets.ISO_8859_1)).toList();
    }

    @Test
    void shouldReplaceOnlyTheVariableItself() {
        Variables variables = of("AB=1", "A=2", "=odd", "no-equals");
        variables.set("A", "3");
        variables.set("B", "4");

        assertThat(text(variables)).containsExactly("AB=1", "A=3", "=odd", "no-equals", "B=4");
        assertThat(variables.value("A")).isEqualTo("3");
        assertThat(variables.value("C")).isNull();
    }

    @Test
    void shouldPrependToALibraryList() {
        Variables variables = of("LD_PRELOAD=/lib/other.so", "EMPTY=");
        variables.prepend("LD_PRELOAD", "/s/libsluice.so");
        variables.prepend("EMPTY", "x");
        variables.prepend("NEW", "y");

        assertThat(text(variables)).containsExactly("LD_PRELOAD=/s/libsluice.so:/lib/other.so", "EMPTY=x", "NEW=y");
    }

    @Test
    void shouldNotPrependTwice() {
        Variables variables = of("LD_PRELOAD=/s/libsluice.so:/lib/other.so", "P=/s/libsluice.so2", "Q=/s/libsluice.so");
        variables.prepend("LD_PRELOAD", "/s/libsluice.so");
        variables.prepend("Q", "/s/libsluice.so");
        variables.prepend("P", "/s/libsluice.so");

        assertThat(text(variables)).containsExactly(
                "LD_PRELOAD=/s/libsluice.so:/lib/other.so", "P=/s/libsluice.so:/s/libsluice.so2", "Q=/s/libsluice.so");
    }

    @Test
    void shouldGiveBackWhatTheLauncherPutAside() {
        Variables variables = of("A=1", "SLUICE_KEPT_JAVA_TOOL_OPTIONS=-Dx=y");
        variables.restore("SLUICE_KEPT_");

        assertThat(text(variables)).containsExactly("A=1", "JAVA_TOOL_OPTIONS=-Dx=y");
    }

    @Test
    void shouldKeepBytesThatAreNoText() {
        Variables variables = of("X=\u00ff\u00fe", "LD_PRELOAD=\u00ff");
        variables.prepend("LD_PRELOAD", "a");

        assertThat(text(variables)).containsExactly("X=\u00ff\u00fe", "LD_PRELOAD=a:\u00ff");
    }

    @Test
    void shouldReadTheEnvironmentOfThisProcess() {
        Variables variables = new Variables(RawProcess.environment());

        assertThat(variables.value("PATH")).isEqualTo(System.getenv("PATH"));
    }

    @Test
    void shouldSplitAtEveryNul() {
        byte[] strings = "a\0\0b c\0".getBytes(StandardCharsets.UTF_8);

        assertThat(RawProcess.split(strings).stream().map(RawProcess::text)).containsExactly("a", "", "b c");
    }
}
