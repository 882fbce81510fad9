package sluice.it.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import sluice.it.house.Architecture.Source;

/// Holds the sources to `docs/directions.txt`, and the checker to made-up sources that are wrong.
class ArchitectureTest {
    private static final Path ROOT = Path.of("..");
    private static final Directions MADE_UP = Directions.parse("""
            Modules:
              cli      api, picocli
              agent    api, io.netty
              api
            Packages:
              cli      (root)
                       output
              agent    (root)
                       audit metrics
                       http
              api      (root)
            """);

    private static Source source(String room, String name, String code) {
        return new Source(room.split("\\.")[0], name + ".java", "package sluice." + room + ";\n" + code);
    }

    private static List<Source> fine() {
        return new ArrayList<>(List.of(source("cli", "Main", "import picocli.CommandLine;\nimport sluice.api.Client;\nimport sluice.cli.output.Text;\n"),
                source("cli", "package-info", ""), source("cli.output", "Text", ""), source("cli.output", "package-info", ""),
                source("agent", "Service", "import io.netty.channel.Channel;\nimport sluice.agent.audit.Audit;\n"), source("agent", "package-info", ""),
                source("agent.audit", "Audit", "import sluice.agent.http.Route;\n"), source("agent.audit", "package-info", ""),
                source("agent.metrics", "Metrics", "import java.util.List;\n"), source("agent.metrics", "package-info", ""),
                source("agent.http", "Route", "import sluice.api.Client;\n"), source("agent.http", "package-info", ""),
                source("api", "Client", "// sluice.agent.http.Route knows the other end\n"), source("api", "package-info", ""),
                new Source("cli", "module-info.java", "module sluice.cli {\n    requires sluice.api;\n    requires jdk.unsupported;\n}\n")));
    }

    private static List<String> problemsWith(Source... more) {
        List<Source> sources = fine();
        sources.addAll(List.of(more));
        return Architecture.problems(sources, MADE_UP);
    }

    @Test
    void shouldBeAsTheDirectionsSay() throws IOException {
        List<Source> sources = Architecture.read(ROOT);

        assertThat(sources).hasSizeGreaterThan(400);
        assertThat(Architecture.problems(sources, Directions.parse(Files.readString(ROOT.resolve("docs/directions.txt"))))).isEmpty();
    }

    @Test
    void shouldHoldTestPackagesToTheSameSize() throws IOException {
        assertThat(Architecture.crowded(Architecture.read(ROOT, "src/test/java"))).isEmpty();
    }

    @Test
    void shouldCoverTheSystemTests() throws IOException {
        assertThat(Architecture.read(ROOT)).anyMatch(source -> source.room().equals("it.house") && source.file().equals("ArchitectureTest.java"));
    }

    @Test
    void shouldShowTheDirectionsOfModulesInTheArchitecture() throws IOException {
        String modules = Files.readString(ROOT.resolve("docs/directions.txt")).split("\nPackages of a module")[0];
        assertThat(Files.readString(ROOT.resolve("ARCHITECTURE.md"))).as("ARCHITECTURE.md shows the modules of docs/directions.txt").contains("```\n" + modules + "```\n");
    }

    @Test
    void shouldFindNothingWhereNothingIsWrong() {
        assertThat(problemsWith()).isEmpty();
    }

    @Test
    void shouldFindAnImportOfAModuleThatIsNotAllowed() {
        assertThat(problemsWith(source("cli", "Wrong", "import sluice.agent.http.Route;\n"))).singleElement().asString()
                .startsWith("cli/Wrong.java must not use agent.http;");
        assertThat(problemsWith(source("cli", "Wrong", "    sluice.agent.Service service;\n"))).singleElement().asString().contains("must not use agent;");
    }

    @Test
    void shouldFindAnImportOfALibraryThatIsNotAllowed() {
        assertThat(problemsWith(source("cli.output", "Wrong", "import static io.netty.channel.Channel.open;\n")))
                .containsExactly("cli.output/Wrong.java must not use io.netty.channel");
    }

    @Test
    void shouldFindADescriptorThatRequiresTooMuch() {
        assertThat(problemsWith(new Source("cli", "module-info.java", "requires transitive sluice.agent;\nrequires io.netty.common;\n")))
                .containsExactly("cli/module-info.java must not require sluice.agent", "cli/module-info.java must not require io.netty.common");
    }

    @Test
    void shouldFindAnImportUpwardsAndTheCycleThatItMakes() {
        assertThat(problemsWith(source("agent.http", "Wrong", "import sluice.agent.audit.Audit;\n"))).containsExactly(
                "agent.http/Wrong.java must not use agent.audit, which is not below agent.http in docs/directions.txt",
                "packages in a cycle: agent.audit → agent.http → agent.audit");
    }

    @Test
    void shouldFindAnImportOfAPackageBeside() {
        assertThat(problemsWith(source("agent.metrics", "Wrong", "import sluice.agent.audit.Audit;\n"))).singleElement().asString()
                .contains("must not use agent.audit, which is not below agent.metrics");
    }

    @Test
    void shouldFindANameThatExistsTwice() {
        assertThat(problemsWith(source("agent.metrics", "Text", ""))).singleElement().asString().startsWith("Text.java is in agent.metrics and cli.output");
    }

    @Test
    void shouldFindAPackageThatIsNotDescribed() {
        assertThat(problemsWith(source("agent.history", "History", ""))).containsExactlyInAnyOrder(
                "agent.history has no package-info.java; write what is in it and what it must not know",
                "agent.history is on no line of docs/directions.txt");
    }

    @Test
    void shouldFindAPackageThatIsTooLarge() {
        assertThat(problemsWith(IntStream.range(0, 24).mapToObj(at -> source("agent.http", "Route" + at, "")).toArray(Source[]::new)))
                .containsExactly("agent.http has 26 files; at most 25 fit into a package");
    }
}
