package sluice.agent.registration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.agent.part.Part;
import sluice.fault.Fault;
import sluice.region.layout.RegionLayout;
import sluice.region.place.ThisProcess;

/// The socket that gives out regions.
@Fault(kind = Fault.Kind.HOSTILE_USERS, of = "the agent's registration")
class HostileRegistrationTest extends HostileLines {
    private static final int MOST = 32 << 20;

    @Override
    protected Part part() {
        return new RegistrationPart();
    }

    @Override
    protected String[] config(Path folder, Path socket) throws IOException {
        return new String[] {"policy = " + Files.writeString(folder.resolve("policy"), "* -> memory=1g reservoir=32m\n"), "register-socket = " + socket,
            "reservoir = 64m"};
    }

    @Override
    protected String honest() {
        return "region " + RegionLayout.LAYOUT + " -\n";
    }

    /// A byte comes with each of the two descriptors and says nothing.
    @Override
    protected boolean isServed(String answer) {
        return answer.startsWith("ok ", 2);
    }

    @Test
    void shouldRefuseWhatIsNoRequest() {
        for (String line : List.of("\n", " \n", "region\n", "region 4\n", "region four -\n", "region 4 - -\n", "region 4 $(id)\n", "region 99999999999999999999 -\n",
                "limits\n", "limits 4\n", "limits " + RegionLayout.LAYOUT + " $(id)\n", "limits 0 -\n",
                "board\n", "board " + "0".repeat(31) + "\n", "board " + "../".repeat(10) + "aa\n", "GET / HTTP/1.1\r\n\r\n", "region 4 \0\n", "/docker/abc x\n")) {
            assertThat(send(line)).as(line).doesNotStartWith("ok");
        }
        String run = "run " + RegionLayout.LAYOUT + " - ";
        for (String line : List.of("run\n", "run 4\n", "run 4 - name=a command=\n", run + "\n", run + "name=a\n", run + "name=../a command=x\n", run + "name=a~0 command=x\n",
                run + "name=a command=%zz\n", run + "name=a command=x memory=-1\n", run + "name=a command=x memory=1g memory=2g\n", run + "name=a command=x tenant=b\n",
                run + "name=a command=x weight=1001\n", "run " + RegionLayout.LAYOUT + " \u00e4 name=a command=x\n", run + "name=" + "a".repeat(64) + " command=x\n")) {
            assertThat(send(line)).as(line).startsWith("no ");
        }
        assertThat(send("board " + "0".repeat(32) + "\n")).contains("no pid").contains("has no region");
        assertThat(send("limits " + RegionLayout.LAYOUT + " -\n")).as("nobody's limits for who has none").contains("no pid").contains("has no region");
        assertThat(folder().resolve("run").toFile().list()).noneMatch(name -> name.endsWith(".region"));
    }

    /// Memory is given to processes that have limits, once each, and never more than there is.
    @Test
    void shouldBoundTheHostMemoryOfAProcess() {
        String ask = "reservoir " + RegionLayout.LAYOUT + " - ";
        assertThat(send(ask + "bytes=4096 held=0\n")).contains("no pid").contains("has no region");
        assertThat(send(honest())).contains("ok ");
        for (String line : List.of("reservoir\n", "reservoir 4 -\n", ask + "\n", ask + "bytes=1\n", ask + "held=0\n", ask + "bytes=-1 held=0\n", ask + "bytes=0 held=0\n",
                ask + "bytes=4g held=0\n", ask + "bytes=9999999999999999999 held=0\n", ask + "bytes=1 held=x\n", ask + "bytes=1 held=4711\n", ask + "bytes=\0 held=0\n")) {
            assertThat(send(line)).as(line).startsWith("no ");
        }
        assertThat(send(ask + "bytes=999999999999999999 held=0\n")).isEqualTo("full " + MOST + "\n");
        for (int time = 0; time < 100; time++) {
            assertThat(send(ask + "bytes=" + MOST + " held=0\n").substring(1)).as("a byte comes with the descriptor").startsWith("ok ");
        }
        assertThat(send(ask + "bytes=" + (MOST + 1) + " held=0\n")).startsWith("full ");
    }

    /// A user cannot take the name of a container, or of another's tenant, and so have its processes.
    @Test
    void shouldKeepNamesOfJobsApartFromAllOthers() throws Exception {
        assertThat(send("run " + RegionLayout.LAYOUT + " - name=c-0123456789ab-cdefcdefcdef command=%2e%0a\u0001\n")).startsWith("ok c-0123456789ab-cdefcdefcdef limited=yes");
        assertThat(folder().resolve("run").toFile().list()).contains("c-0123456789ab-cdefcdefcdef~" + ThisProcess.current().uid() + ".region");
        assertThat(send("run " + RegionLayout.LAYOUT + " - name=c-0123456789ab-cdefcdefcdef command=x\n")).as("it runs").startsWith("no ");
    }

    @Test
    void shouldMakeOneTenantOfOneProcess() throws Exception {
        for (int count = 0; count < 20; count++) {
            send(honest());
        }
        try (var files = Files.list(folder().resolve("run"))) {
            assertThat(files.filter(file -> file.toString().endsWith(".region"))).hasSize(1);
        }
    }
}
