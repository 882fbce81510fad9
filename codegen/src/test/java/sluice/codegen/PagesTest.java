package sluice.codegen;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PagesTest {
    @ParameterizedTest
    @ValueSource(strings = {"hooks.md", "region.md", "board.md", "trace-file.md"})
    void shouldHaveFreshPage(String name) throws Exception {
        var page = Generator.pages(Checkout.read(Checkout.spec())).stream()
                .filter(output -> output.path().equals(name))
                .findFirst()
                .orElseThrow();
        var file = Checkout.root().resolve("docs").resolve(name);

        assertThat(Files.exists(file) && Files.readString(file).equals(page.content()))
                .withFailMessage("docs/%s is stale; refresh it with: mvn -q -pl codegen compile exec:exec@docs", name)
                .isTrue();
    }
}
