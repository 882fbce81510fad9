package sluice.region.place;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InstallationTest {
    @TempDir
    private Path folder;

    private Map<String, String> environment;

    @BeforeEach
    void chooseARuntimeDirectory() {
        environment = Map.of(RuntimeDirectory.VARIABLE, folder.resolve("run").toString());
    }

    private Installation installed(String name) throws Exception {
        Path home = folder.resolve(name);
        Files.createDirectories(home.resolve("lib/sim"));
        Files.createFile(home.resolve("lib/libsluice.so"));
        Files.createFile(home.resolve("lib/sim/libcuda.so.1"));
        return new Installation(home);
    }

    /// `LD_PRELOAD` has no way to write them.
    @ParameterizedTest
    @ValueSource(strings = {"with space", "with:colon", "with;semicolon", "with$LIB"})
    void shouldReachAFolderThatTheLinkerCannotNameThroughALink(String name) throws Exception {
        Installation installed = installed(name);

        Installation loadable = installed.loadable(environment);

        assertThat(loadable.presentLibrary().toString()).doesNotContainPattern("[ :;$]");
        assertThat(loadable.presentLibrary().toRealPath()).isEqualTo(installed.library().toRealPath());
        assertThat(loadable.presentSimulatedDriver().toRealPath()).isEqualTo(installed.simulatedDriver().toRealPath());
        assertThat(installed.loadable(environment)).isEqualTo(loadable);
    }

    @Test
    void shouldNameEachInstallationByALinkOfItsOwn() throws Exception {
        assertThat(installed("one installation").loadable(environment)).isNotEqualTo(installed("another installation").loadable(environment));
    }

    @Test
    void shouldUseOtherFoldersAsTheyAre() throws Exception {
        Installation installed = installed("plain-" + "x".repeat(200));

        assertThat(installed.loadable(environment)).isEqualTo(installed);
        assertThat(folder.resolve("run")).doesNotExist();
    }

    /// Then the link lies in the usual place.
    @Test
    void shouldNotLinkInARuntimeDirectoryThatTheLinkerCannotName() throws Exception {
        Installation installed = installed("with space");

        Installation loadable = installed.loadable(Map.of(RuntimeDirectory.VARIABLE, folder.resolve("run time").toString()));
        try {
            assertThat(loadable.presentLibrary().toString()).doesNotContain(" ");
            assertThat(loadable.presentLibrary().toRealPath()).isEqualTo(installed.library().toRealPath());
        } finally {
            Files.delete(loadable.home());
        }
    }
}
