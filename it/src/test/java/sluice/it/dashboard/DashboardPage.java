package sluice.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.ResourceLock;
import sluice.it.machine.Machine;
import sluice.it.machine.OnMachine;

/// An agent, and its page in a real browser, which one class at a time has.
@ResourceLock("browser")
abstract class DashboardPage extends OnMachine {
    static final String LIVE = "document.querySelector('#state.live')";

    static Browser browser;

    int port;
    Process agent;

    @BeforeAll
    static void startBrowser() throws Exception {
        assumeTrue(Browser.isThere(), "chromium and chromedriver are not installed; apt-get install chromium chromium-driver");
        browser = new Browser();
    }

    @AfterAll
    static void endBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void start() throws Exception {
        machine.with("XDG_CONFIG_HOME", directory.resolve("config").toString())
                .with("XDG_STATE_HOME", directory.resolve("state").toString()).with("LD_LIBRARY_PATH", Machine.SIM.toString());
        port = Browser.freePort();
        Files.createDirectories(directory.resolve("config/sluice"));
        Files.writeString(directory.resolve("config/sluice/agent.conf"), "port = " + port + "\n");
        startAgent();
        browser.screen(1200, 1480, false, false);
        browser.complaints();
    }

    @AfterEach
    void end() throws Exception {
        if (agent != null) {
            browser.open("about:blank");
        }
    }

    void startAgent() throws Exception {
        agent = machine.startSluice("agent");
        assertThat(agent.inputReader().readLine()).contains("http://127.0.0.1:" + port);
    }

    void open(int rows) throws Exception {
        browser.open("http://127.0.0.1:" + port + "/");
        browser.await(LIVE + " && document.querySelectorAll('#tenant-table tbody tr').length === " + rows);
    }
}
