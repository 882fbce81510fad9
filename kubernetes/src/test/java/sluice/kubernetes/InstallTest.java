package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;
import sluice.region.place.SluiceException;

/// The copy of the distribution to the node.
class InstallTest {
    @TempDir
    private Path folder;

    private Path from;
    private Path to;

    @BeforeEach
    void distribution() throws Exception {
        from = Files.createDirectories(folder.resolve("image/lib")).getParent();
        to = folder.resolve("node/opt/sluice");
        Files.writeString(from.resolve("lib/libsluice.so"), "first");
        Files.createSymbolicLink(from.resolve("lib/libvgpu.so"), Path.of("libsluice.so"));
        Files.setPosixFilePermissions(Files.writeString(from.resolve("program"), "#!"), PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void shouldCopyFilesLinksAndModes() throws Exception {
        assertThat(Install.copy(from, to)).isEqualTo(3);

        assertThat(to.resolve("lib/libsluice.so")).hasContent("first");
        assertThat(Files.readSymbolicLink(to.resolve("lib/libvgpu.so"))).isEqualTo(Path.of("libsluice.so"));
        assertThat(Files.isExecutable(to.resolve("program"))).isTrue();
        assertThat(Install.copy(from, to)).as("again").isZero();
    }

    @Fault(kind = Fault.Kind.SWAP, of = "the library, while programs have it mapped")
    @Test
    void shouldReplaceWhatIsInUseWithoutChangingIt() throws Exception {
        Install.copy(from, to);
        try (InputStream open = Files.newInputStream(to.resolve("lib/libsluice.so"))) {
            Files.writeString(from.resolve("lib/libsluice.so"), "other");

            assertThat(Install.copy(from, to)).isEqualTo(1);

            assertThat(new String(open.readAllBytes())).isEqualTo("first");
            assertThat(to.resolve("lib/libsluice.so")).hasContent("other");
        }
    }

    @Test
    void shouldFollowNoLinkThatIsInTheWay() throws Exception {
        Path precious = Files.writeString(folder.resolve("precious"), "precious");
        Files.createDirectories(to.resolve("lib"));
        Files.createSymbolicLink(to.resolve("lib/libsluice.so"), precious);

        Install.copy(from, to);

        assertThat(precious).hasContent("precious");
        assertThat(to.resolve("lib/libsluice.so")).isRegularFile().hasContent("first");
    }

    @Test
    void shouldSayWhatCannotBeCopied() {
        assertThatThrownBy(() -> Install.copy(folder.resolve("nothing"), to)).isInstanceOf(SluiceException.class).hasMessageContaining("nothing");
    }
}
