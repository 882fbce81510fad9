package sluice.agent.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sluice.agent.http.Answer;
import sluice.agent.http.Route;
import sluice.agent.part.Part;

/// The page for browsers. It is the same for all users and has no data of the machine: it asks the API, with the rights of its reader. It
/// loads only its own files, and runs only their scripts.
public final class Dashboard implements Part {
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
    private static final String HTML = "text/html; charset=utf-8";
    private static final String CSS = "text/css; charset=utf-8";
    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final List<String> SCRIPTS = List.of("main.js", "agent.js", "canvas.js", "changes.js", "chart.js", "colours.js", "edit.js", "gpus.js",
            "limits.js", "pause.js", "series.js", "tenants.js", "text.js", "turns.js");

    @Override
    public List<Route> routes() {
        List<Route> routes = new ArrayList<>();
        routes.add(file("/", "page.html", HTML, "The dashboard, for browsers."));
        routes.add(file("/dashboard/style.css", "style.css", CSS, "Its looks."));
        SCRIPTS.forEach(name -> routes.add(file("/dashboard/" + name, name, SCRIPT, "A script of it.")));
        return routes;
    }

    private static Route file(String path, String name, String type, String summary) {
        Answer answer = new Answer.Whole(200, type, read(name), Map.of("content-security-policy", POLICY));
        return Route.get(path, summary, request -> answer).forAll();
    }

    private static byte[] read(String name) {
        try (InputStream file = Dashboard.class.getResourceAsStream(name)) {
            return file.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException("the dashboard lacks " + name, e);
        }
    }
}
