package sluice.linux;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sluice.fault.Fault;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FolderTest {
    private static final int SWAPS = 3000;

    @TempDir
    Path place;
    private Path path;
    private Path secret;
    private FileRules rules;
    private Folder folder;

    @BeforeEach
    void open() throws IOException {
        path = Files.createDirectory(place.resolve("folder"));
        secret = Files.writeString(place.resolve("secret"), "secret");
        Files.writeString(path.resolve("plain"), "plain");
        rules = FileRules.of((Integer) Files.getAttribute(path, "unix:uid"), 100);
        folder = Folder.open(path);
    }

    @AfterEach
    void close() {
        folder.close();
    }

    private void pipe(String name) throws Exception {
        assertThat(new ProcessBuilder("mkfifo", path.resolve(name).toString()).start().waitFor()).isZero();
    }

    private String read(String name) throws IOException {
        return new String(folder.read(name, rules), UTF_8);
    }

    @Test
    void shouldReadAPlainFile() throws IOException {
        assertThat(read("plain")).isEqualTo("plain");
        assertThat(folder.status("plain").bytes()).isEqualTo(5);
    }

    @Test
    @Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the one door to other users' files")
    void shouldFollowNoLink() throws IOException {
        Files.createSymbolicLink(path.resolve("link"), secret);
        Files.createSymbolicLink(place.resolve("other"), path);

        assertThatThrownBy(() -> read("link")).isInstanceOf(IOException.class).hasMessageContaining("not a regular file");
        assertThatThrownBy(() -> Folder.open(place.resolve("other"))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> folder.folder("link")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> folder.create("link", 0600)).isInstanceOf(FileAlreadyExistsException.class);
    }

    @Test
    @Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the one door to other users' files")
    void shouldNotWaitForAPipe() throws Exception {
        pipe("pipe");

        assertThatThrownBy(() -> read("pipe")).isInstanceOf(IOException.class).hasMessageContaining("not a regular file");
    }

    @Test
    @Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the one door to other users' files")
    void shouldLeaveTheFilesOfOthersAlone() throws IOException {
        FileRules foreign = FileRules.of(rules.owner() + 1, 100);
        Files.createLink(path.resolve("second"), secret);
        Files.write(path.resolve("long"), new byte[101]);

        assertThatThrownBy(() -> read("second")).hasMessageContaining("2 names");
        assertThatThrownBy(() -> read("long")).hasMessageContaining("too long");
        assertThatThrownBy(() -> folder.read("plain", foreign)).hasMessageContaining("belongs to user " + rules.owner());
    }

    @Test
    void shouldTakeNoPathForAName() {
        for (String name : new String[] {"", ".", "..", "../secret", "a/b", "x".repeat(256)}) {
            assertThatThrownBy(() -> read(name)).as(name).isInstanceOf(IOException.class).hasMessageContaining("not a name");
        }
    }

    @Test
    @Fault(kind = Fault.Kind.SWAP, of = "names in a folder, between two looks")
    void shouldStayInTheFolderThatWasOpened() throws IOException {
        Files.move(path, place.resolve("moved"));
        Files.createDirectory(path);

        try (Descriptor made = folder.create("made", 0600)) {
            assertThat(made.status().rights()).isEqualTo(0600);
        }
        folder.link("made", "linked");
        folder.rename("linked", "renamed");
        folder.delete("made");

        assertThat(path).isEmptyDirectory();
        assertThat(place.resolve("moved/renamed")).isRegularFile();
        assertThatThrownBy(() -> folder.delete("made")).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void shouldChangeTheTimeOfALinkAndNotOfWhatItLeadsTo() throws IOException {
        Files.createSymbolicLink(path.resolve("link"), secret);
        Instant then = Instant.ofEpochSecond(1_000_000, 5);

        folder.setModified("link", then);
        folder.setModified("plain", then);

        assertThat(folder.status("link").modified()).isEqualTo(then);
        assertThat(folder.status("plain").modified()).isEqualTo(then);
        assertThat(Files.getLastModifiedTime(secret).toInstant()).isAfter(then);
    }

    @Test
    void shouldDeleteALinkAndNotWhatItLeadsTo() throws IOException {
        Files.createSymbolicLink(path.resolve("link"), secret);

        folder.delete("link");

        assertThat(secret).hasContent("secret");
        assertThat(folder.names(name -> true)).containsExactly("plain");
    }

    @Test
    void shouldNotLookAtMoreThanSoManyEntries() throws IOException {
        for (int at = 0; at < Folder.MOST_ENTRIES + 100; at++) {
            Files.createFile(path.resolve("entry-" + at));
        }

        assertThat(folder.names(name -> true)).hasSize(Folder.MOST_ENTRIES);
    }

    /// Each open meets a plain file, a pipe, a link to a secret of another user, another name of it, or nothing.
    @Test
    @Fault(kind = Fault.Kind.SWAP, of = "names in a folder, between two looks")
    void shouldReadNothingElseWhileNamesAreSwapped() throws Exception {
        if (rules.owner() == 0) {
            Files.setAttribute(secret, "unix:uid", 4321);
        }
        AtomicBoolean done = new AtomicBoolean();
        Thread attacker = Thread.ofPlatform().start(() -> swap(done));
        int plain = 0;
        for (int at = 0; at < SWAPS || plain == 0; at++) {
            try {
                assertThat(read("target")).isEqualTo("plain");
                plain++;
            } catch (IOException e) {
                assertThat(e.getMessage()).contains("target");
            }
        }
        done.set(true);
        attacker.join(TimeUnit.SECONDS.toMillis(10));
        assertThat(secret).hasContent("secret");
    }

    private void swap(AtomicBoolean done) {
        try {
            for (int at = 0; !done.get(); at++) {
                Path next = path.resolve("next");
                Files.deleteIfExists(next);
                switch (at % 4) {
                    case 0 -> Files.writeString(next, "plain");
                    case 1 -> Files.createSymbolicLink(next, secret);
                    case 2 -> Files.createLink(next, rules.owner() == 0 ? secret : path.resolve("plain"));
                    default -> pipe("next");
                }
                Files.move(next, path.resolve("target"), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
