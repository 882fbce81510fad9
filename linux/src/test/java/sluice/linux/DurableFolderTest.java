package sluice.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DurableFolderTest {
    @TempDir
    private Path folder;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("own"))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void shouldReplaceAFileWholeAlsoWithoutTheDisk() throws Exception {
        DurableFolder own = DurableFolder.make(folder.resolve("own"));
        own.write("a.json", bytes("longer than the next"));
        own.writeSoon("b.json", bytes("longer than the next"));
        own.write("a.json", bytes("second"));
        own.writeSoon("b.json", bytes("second"));

        assertThat(names()).as("nothing unfinished").containsExactly("a.json", "b.json");
        for (String name : names()) {
            assertThat(Files.readString(folder.resolve("own").resolve(name))).isEqualTo("second");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("own").resolve(name)))).isEqualTo("rw-------");
        }
        assertThat(own.read("", ".json").keySet()).containsExactly("a", "b");
    }

    @Test
    void shouldTellWhetherAFileWasThere() throws Exception {
        DurableFolder own = DurableFolder.make(folder.resolve("own"));
        own.write("a", bytes("x"));
        own.write("b", bytes("x"));

        assertThat(List.of(own.delete("a"), own.deleteSoon("b"), own.delete("a"), own.deleteSoon("b"))).containsExactly(true, true, false, false);
        assertThat(names()).isEmpty();
    }

    @Test
    void shouldLeaveNothingOfAFileThatCannotBeWritten() throws Exception {
        DurableFolder own = DurableFolder.make(folder.resolve("own"));
        Files.createDirectories(folder.resolve("own/taken/inside"));
        for (boolean isSoon : new boolean[] {true, false}) {
            try {
                if (isSoon) {
                    own.writeSoon("taken", bytes("x"));
                } else {
                    own.write("taken", bytes("x"));
                }
                assertThat(false).as("a folder is there").isTrue();
            } catch (IOException e) {
                assertThat(names()).containsExactly("taken");
            }
        }
    }
}
