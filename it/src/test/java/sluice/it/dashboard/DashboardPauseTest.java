package sluice.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.it.machine.Machine;

/// The buttons that pause and resume a job.
@Timeout(300)
class DashboardPauseTest extends DashboardPage {
    private static final String BUTTONS = "#tenant-table tbody .pauses button";

    private void startJob() throws Exception {
        Machine.awaitLine(machine.startSluice("run", "--sim", "--name", "job", "--mapped", "--memory", "2g", "--", Machine.program("hog"), "--step", "256m", "--count", "4", "--hold", "600000"),
                "got ");
        open(1);
        browser.type("body", "t");
        browser.type("#token-text", Files.readString(machine.directory.resolve("state/sluice/token")).strip() + Browser.ENTER);
    }

    private void press(String title) throws Exception {
        String place = "[...document.querySelectorAll('" + BUTTONS + "')].findIndex(each => each.textContent === '" + title + "')";
        browser.await(place + " >= 0");
        browser.click(BUTTONS + ":nth-child(" + (browser.script("return " + place).number() + 1) + ")");
        assertThat(browser.text("#confirm-what")).isEqualTo(title + " job?");
        browser.click("#confirm-yes");
    }

    private void awaitToast(String text) throws Exception {
        browser.await("document.getElementById('toast').textContent.includes('" + text + "')");
    }

    private String whenNothingMoves() throws Exception {
        String shown = machine.sluice("ps").output();
        for (int look = 0; look < 300 && shown.contains("job ("); look++) {
            Thread.sleep(200);
            shown = machine.sluice("ps").output();
        }
        return shown;
    }

    @Test
    void shouldGoDeeperAndComeBack() throws Exception {
        startJob();
        press("Pause");
        awaitToast("job is paused");
        assertThat(machine.sluice("ps").output()).contains("job (paused");

        press("Release");
        awaitToast("job is released");
        assertThat(machine.sluice("ps").output()).contains("job (evicted").contains("1.0 GiB away");

        press("Vacate");
        awaitToast("job is vacated");
        press("Resume");
        awaitToast("job runs");
        assertThat(machine.sluice("ps").output()).doesNotContain("job (");
        assertThat(browser.complaints()).isEmpty();
    }

    /// The link is so slow that the copy takes long. Copies that are under way end first.
    @Test
    void shouldWithdrawAReleaseThatIsUnderWay() throws Exception {
        machine.with("SLUICE_SIM_LINK", "100m");
        startJob();
        press("Release");
        press("Cancel");
        awaitToast("job: withdrawn");
        assertThat(whenNothingMoves()).doesNotContain("job (");
        assertThat(browser.complaints()).isEmpty();
    }
}
