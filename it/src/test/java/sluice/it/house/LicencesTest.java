package sluice.it.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// Every module of others in the distribution comes with its licence.
class LicencesTest {
    private static final Path HOME = Path.of(System.getProperty("sluice.home"));
    private static final Pattern MODULES = Pattern.compile("^MODULES=\"(.*)\"", Pattern.MULTILINE);
    private static final int SHORTEST = 1000;

    private static List<String> modules() throws IOException {
        Matcher found = MODULES.matcher(Files.readString(HOME.resolve("runtime/release")));
        assertThat(found.find()).isTrue();
        return List.of(found.group(1).split(" "));
    }

    private static Path folder(String module) throws IOException {
        return Files.readAllLines(HOME.resolve("licences/modules.txt")).stream().filter(line -> !line.startsWith("#")).map(line -> line.split("\\s+"))
                .filter(words -> (module + ".").startsWith(words[0] + ".")).map(words -> HOME.resolve("licences").resolve(words[1]))
                .findFirst().orElseThrow(() -> new AssertionError("dist/licences/modules.txt has no line for " + module));
    }

    @Test
    void shouldHaveALicenceForEveryModuleOfOthers() throws IOException {
        List<String> others = modules().stream().filter(module -> !module.matches("(java|jdk|sluice)\\..*") || module.equals("sluice.prometheus")).toList();

        assertThat(others).contains("info.picocli", "io.netty.common", "org.jline.terminal", "sluice.prometheus", "tools.jackson.core");
        for (String module : others) {
            assertThat(Files.readString(folder(module).resolve("LICENSE"))).as(module).hasSizeGreaterThan(SHORTEST).containsIgnoringCase("copyright");
        }
    }

    @Test
    void shouldHaveTheLicencesOfTheJavaRuntime() throws IOException {
        for (String module : modules().stream().filter(each -> each.matches("(java|jdk)\\..*")).toList()) {
            assertThat(HOME.resolve("runtime/legal").resolve(module).resolve("LICENSE")).as(module).isNotEmptyFile();
        }
    }
}
