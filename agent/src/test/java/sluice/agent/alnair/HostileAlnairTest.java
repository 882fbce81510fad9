package sluice.agent.alnair;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sluice.agent.part.Part;
import sluice.agent.registration.HostileLines;
import sluice.fault.Fault;

/// The socket for clients of Alnair. Requests that ended the server there are among them.
@Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the agent's service for Alnair")
class HostileAlnairTest extends HostileLines {
    @Override
    protected Part part() {
        return new AlnairPart();
    }

    @Override
    protected String[] config(Path folder, Path socket) throws IOException {
        Files.createDirectories(folder.resolve("workspaces/ab1de"));
        Files.createDirectory(folder.resolve("outside"));
        Files.createSymbolicLink(folder.resolve("workspaces/link"), folder.resolve("outside"));
        return new String[] {"alnair-socket = " + socket, "alnair-workspaces = " + folder.resolve("workspaces")};
    }

    @Override
    protected String honest() {
        return "/user.slice ab1de\n";
    }

    @Override
    protected boolean isServed(String answer) {
        return answer.equals("ok");
    }

    @Test
    void shouldRefuseWhatIsNoRequest() throws Exception {
        for (String line : List.of("\n", "ab1de\n", " \n", "/ \n", "/docker/abc ../outside\n", "/docker/abc ..\n", "/ .\n", "/ /etc\n", "/ ab1de/../..\n", "/ link\n",
                "/ nobody\n", "/ " + "a".repeat(64) + "\n", "/ ab1de\0\n", "GET / HTTP/1.1\r\n\r\n", "/docker/" + "0".repeat(64) + " ab1de\n")) {
            assertThat(send(line)).as(line).isNotEmpty().doesNotStartWith("ok");
        }
        for (String line : List.of("", "/docker/abc ab1de", "/" + "x".repeat(5000) + " ab1de\n")) {
            assertThat(send(line)).as("no line at all, or too long a one").isEmpty();
        }
        assertThat(files("workspaces/ab1de")).isEmpty();
        assertThat(files("outside")).isEmpty();
    }

    @Test
    void shouldFollowNoLinkOfAContainer() throws Exception {
        Path victim = Files.writeString(folder().resolve("outside/victim"), "precious");
        Files.createSymbolicLink(folder().resolve("workspaces/ab1de/cgroup.procs"), victim);

        assertThat(send(honest())).isEqualTo("ok");
        assertThat(victim).hasContent("precious");
        assertThat(folder().resolve("workspaces/ab1de/cgroup.procs")).isRegularFile().content().isEqualTo(ProcessHandle.current().pid() + "\n");
    }

    @Test
    void shouldSayWhenAWorkspaceCannotBeWritten() throws Exception {
        Path place = Files.createDirectories(folder().resolve("workspaces/ab1de/cgroup.procs/full"));

        assertThat(send(honest())).isEqualTo("the agent cannot write cgroup.procs in its folder");
        assertThat(files("workspaces/ab1de")).as("nothing is left there").containsExactly("cgroup.procs");
        Files.delete(place);
        Files.delete(place.getParent());
    }

    private List<String> files(String name) throws IOException {
        try (Stream<Path> files = Files.list(folder().resolve(name))) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
