package sluice.codegen;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import sluice.codegen.text.Output;

/// The whole output for a tiny spec, file by file. Run with -Dgolden=write to accept what the generator makes now.
class GoldenFilesTest {
    private static final String MEND =
            "accept it with: mvn -q -pl codegen test -Dtest=GoldenFilesTest -Dgolden=write, and look at git diff";

    private static List<Output> outputs() throws Exception {
        var spec = Checkout.read(Checkout.tinySpec());
        var pages = Generator.pages(spec).stream().map(page -> new Output("docs/" + page.path(), page.content()));
        return Stream.concat(Generator.sources(spec).stream(), pages).toList();
    }

    @TestFactory
    Stream<DynamicTest> shouldMakeTheGoldenFile() throws Exception {
        return outputs().stream().map(output -> DynamicTest.dynamicTest(output.path(), () -> {
            if ("write".equals(System.getProperty("golden"))) {
                output.write(Checkout.golden());
            }
            var golden = Checkout.golden().resolve(output.path());
            assertThat(golden).as(MEND).exists();
            assertThat(output.content()).as(MEND).isEqualTo(Files.readString(golden));
        }));
    }

    @Test
    void shouldMakeNothingElse() throws Exception {
        try (var files = Files.walk(Checkout.golden())) {
            assertThat(files.filter(Files::isRegularFile).map(Checkout.golden()::relativize).map(Path::toString))
                    .containsExactlyInAnyOrderElementsOf(outputs().stream().map(Output::path).toList());
        }
    }
}
