package sluice.agent.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import sluice.agent.http.Answer;
import sluice.agent.http.Caller;
import sluice.agent.http.Request;
import sluice.agent.http.Route;

/// The files of the page, without a browser.
class DashboardTest {
    private static final Pattern NEEDED = Pattern.compile("(?:from '\\./|(?:href|src)=\"/dashboard/)([a-z]+\\.(?:js|css))");
    private static final Request ANY = new Request("GET", "/", Map.of(), Map.of(), Map.of(), new byte[0], new Caller(Caller.UNKNOWN, 0, Caller.Rights.NONE));

    private final Map<String, Answer.Whole> files = new Dashboard().routes().stream().collect(Collectors.toMap(Route::pattern, DashboardTest::answer));

    private static Answer.Whole answer(Route route) {
        try {
            return (Answer.Whole) route.handler().handle(ANY);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static String text(Answer.Whole file) {
        return new String(file.body(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldServeAllThatItsFilesNeedAndNothingElse() {
        var needed = files.values().stream().flatMap(file -> NEEDED.matcher(text(file)).results()).map(found -> "/dashboard/" + found.group(1))
                .collect(Collectors.toSet());
        needed.add("/");
        assertThat(files.keySet()).isEqualTo(needed);
    }

    @Test
    void shouldNeedNothingFromElsewhereAndRunNothingElse() {
        for (Answer.Whole file : files.values()) {
            assertThat(text(file)).doesNotContain("http://", "https://", "innerHTML", "eval(", " style=\"", " onclick=");
            assertThat(file.headers().get("content-security-policy")).startsWith("default-src 'none'; script-src 'self'; ").doesNotContain("unsafe");
        }
    }
}
