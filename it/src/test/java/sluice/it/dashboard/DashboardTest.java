package sluice.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.api.json.JsonTree;
import sluice.it.machine.Machine;
import sluice.region.limits.Size;

/// The agent's page in a real browser.
@Timeout(300)
class DashboardTest extends DashboardPage {
    private void startJob(String name, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("run", "--sim", "--name", name));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--", Machine.program("hog"), "--step", "256m", "--count", "4", "--hold", "600000"));
        Machine.awaitLine(machine.startSluice(arguments.toArray(String[]::new)), "got ");
    }

    private JsonTree api(String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
        return JsonTree.parse(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray()).body());
    }

    /// What the page shows of each tenant, by the heads of the columns.
    private Map<String, JsonTree> shown() throws Exception {
        Map<String, JsonTree> rows = new HashMap<>();
        browser.script("""
                return [...document.querySelectorAll('#tenant-table tbody tr')].map(row => Object.fromEntries([...row.cells].map(cell =>
                    [cell.dataset.label, (cell.querySelector('.text') ?? cell.firstElementChild).textContent])))
                """).elements().forEach(row -> rows.put(row.at("Tenant").text(), row));
        return rows;
    }

    private static String cell(String label) {
        return "#tenant-table tbody td[data-label=" + label + "] ";
    }

    @Test
    void shouldShowWhatTheApiSays() throws Exception {
        startJob("first", "--memory", "2g", "--compute", "25%");
        startJob("second", "--memory", "512m", "--weight", "3", "--priority", "high");
        open(2);
        machine.sluice("set", "first", "--memory", "3g");
        browser.await("document.querySelector('#events li:first-child .kind.limits')");
        browser.await("document.querySelector('" + cell("Limit") + "').textContent === '3.0 GiB'");

        JsonTree told = api("/v1/machine");
        Map<String, JsonTree> rows = shown();
        for (JsonTree tenant : told.at("tenants").elements()) {
            JsonTree row = rows.get(tenant.at("tenant").text());
            JsonTree gpu = tenant.at("gpus").elements().getFirst();
            JsonTree compute = tenant.at("compute");
            long cap = compute.at("capPermille").elements().getFirst().number();
            assertThat(row.at("Memory").text()).isEqualTo(Size.format(gpu.at("usedBytes").number()));
            assertThat(row.at("Limit").text()).isEqualTo(Size.format(gpu.at("limitBytes").number()));
            assertThat(row.at("Peak").text()).isEqualTo(Size.format(gpu.at("peakBytes").number()));
            assertThat(row.at("Cap").text()).isEqualTo(cap == 0 ? "none" : cap / 10 + " %");
            assertThat(row.at("Weight").text()).isEqualTo(compute.at("turns").isTrue() ? Long.toString(compute.at("weight").number()) : "none");
            assertThat(row.at("Priority").text()).isEqualTo(compute.at("priority").text());
            assertThat(row.at("Refused").text()).isEqualTo(Long.toString(gpu.at("refusedCalls").number()));
        }
        JsonTree gpu = told.at("gpus").elements().getFirst();
        assertThat(browser.text(".gpu")).contains(gpu.at("name").text())
                .contains(Size.format(gpu.at("usedBytes").number()) + " of " + Size.format(gpu.at("totalBytes").number()));
        assertThat(browser.text("#headline")).startsWith("2 tenants run on 1 GPU.");
        List<JsonTree> events = told.at("events").elements();
        browser.await("document.querySelectorAll('#events li').length === " + events.size());
        assertThat(browser.text("#events li:first-child")).contains(events.getLast().at("text").text());
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void shouldChangeTheLimitOfARunningJobAndPutItBack() throws Exception {
        startJob("job", "--memory", "2g");
        open(1);
        assertThat(browser.script("return document.querySelector('" + cell("Limit") + "button').disabled").isTrue()).isTrue();

        browser.type("body", "t");
        browser.type("#token-text", "0".repeat(48) + Browser.ENTER);
        browser.await("document.getElementById('token-error').textContent.includes('does not know')");
        browser.script("document.getElementById('token-text').value = ''");
        browser.type("#token-text", Files.readString(machine.directory.resolve("state/sluice/token")).strip() + Browser.ENTER);
        browser.await("document.getElementById('token-open').textContent === 'May change limits' && !document.querySelector('" + cell("Limit") + "button').disabled");

        browser.click(cell("Limit") + "button");
        browser.type(cell("Limit") + "input", "6g" + Browser.ENTER);
        assertThat(browser.text("#confirm-what")).isEqualTo("Set memory of job from 2.0 GiB to 6g?");
        assertThat(machine.sluice("inspect", "job").output()).contains("2.0 GiB");
        browser.click("#confirm-yes");
        browser.await("document.getElementById('toast').textContent.includes('memory is 6.0 GiB, was 2.0 GiB')");
        assertThat(machine.sluice("inspect", "job").output()).contains("6.0 GiB (change 1)");
        assertThat(browser.text(cell("Limit"))).isEqualTo("6.0 GiB");

        browser.click("#undo");
        browser.await("document.getElementById('toast').textContent.includes('2.0 GiB again')");
        assertThat(machine.sluice("inspect", "job").output()).contains("2.0 GiB (change 2)");

        browser.click(cell("Limit") + "button");
        browser.type(cell("Limit") + "input", "4x" + Browser.ENTER);
        browser.click("#confirm-yes");
        browser.await("document.getElementById('toast').textContent.includes(\"Not changed: bad size '4x'\")");
        assertThat(browser.script("return document.cookie + JSON.stringify(localStorage)").text()).isEqualTo("{}");
    }

    @Test
    void shouldShowWhatTheAuditFinds() throws Exception {
        open(0);
        Process escaped = machine.startPreloaded(Map.of("LD_PRELOAD", ""), Machine.program("hog"), "--step", "256m", "--count", "2", "--hold", "600000");
        browser.await("document.querySelectorAll('#findings li').length === 1");
        JsonTree finding = api("/v1/audit").at("findings").elements().getFirst();
        assertThat(browser.text("#findings li")).contains(finding.at("kind").text()).contains("process " + escaped.pid())
                .contains(Size.format(finding.at("usedBytes").number()));
        assertThat(browser.text("#headline")).contains("1 finding of the audit");
    }

    @Test
    void shouldSayThatTheAgentIsGoneAndComeBack() throws Exception {
        startJob("job", "--memory", "2g");
        open(1);
        agent.destroyForcibly().waitFor();
        browser.await("document.querySelector('#state.gone') && !document.getElementById('notice').hidden");
        assertThat(browser.text("#notice")).contains("The agent does not answer").contains("Jobs go on without it");
        assertThat(shown()).containsKey("job");

        startAgent();
        browser.await(LIVE + " && document.getElementById('notice').hidden");
    }

    @Test
    void shouldSayWhatToDoWhenThereIsNothingAndFitAPhone() throws Exception {
        browser.screen(360, 740, true, true);
        open(0);
        assertThat(browser.text("#no-tenants")).contains("sluice run --memory");
        startJob("a-tenant-with-a-name-that-is-rather-long-for-a-phone", "--memory", "2g");
        browser.await("document.querySelectorAll('#tenant-table tbody tr').length === 1");
        assertThat(browser.script("return document.documentElement.scrollWidth").number()).isLessThanOrEqualTo(360);
        assertThat(browser.complaints()).isEmpty();
    }
}
