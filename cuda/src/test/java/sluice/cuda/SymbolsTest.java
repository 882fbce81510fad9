package sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;

class SymbolsTest {
    record Arithmetic(@Entry(takes = "I") MethodHandle abs, @Entry(takes = "IP") MethodHandle no_such_symbol) {}

    private final SymbolLookup libc = Symbols.library("libc.so.6").orElseThrow();
    private final Arithmetic bound = new Symbols((symbol, since) -> libc.find(symbol), 500).bind(Arithmetic.class);

    @Test
    void shouldBindComponentToSymbolOfSameName() throws Throwable {
        assertThat((int) bound.abs().invokeExact(-7)).isEqualTo(7);
    }

    @Test
    void shouldAnswerMissingForSymbolThatIsNotThere() throws Throwable {
        assertThat((int) bound.no_such_symbol().invoke(1, MemorySegment.NULL)).isEqualTo(500);
    }

    @Test
    void shouldGiveEmptyForMissingLibrary() {
        assertThat(Symbols.library("libthere-is-none.so.1")).isEmpty();
    }

    @Test
    void shouldRefuseUnknownParameterLetter() {
        assertThatThrownBy(() -> Symbols.descriptor("PX")).hasMessageContaining("X: use P, L, I or H");
    }
}
