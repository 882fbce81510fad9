package sluice.it.dashboard;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import sluice.api.json.JsonTree;

/// A real Chromium without a screen, driven by WebDriver: it is opened, clicked and typed into as people do.
final class Browser implements AutoCloseable {
    static final String ENTER = "\uE007";
    private static final String ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    private final HttpClient http = HttpClient.newHttpClient();
    private final Process driver;
    private final String address;
    private String session = "";

    Browser() throws Exception {
        int port = freePort();
        driver = new ProcessBuilder("chromedriver", "--port=" + port).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        address = "http://127.0.0.1:" + port;
        awaitDriver();
        session = "/session/" + ask("POST", "/session", "{\"capabilities\":{\"alwaysMatch\":{\"goog:loggingPrefs\":{\"browser\":\"ALL\"},"
                + "\"goog:chromeOptions\":{\"args\":[\"--headless=new\",\"--no-sandbox\",\"--disable-dev-shm-usage\",\"--window-size=1200,1480\"]}}}}")
                .at("sessionId").text();
    }

    /// Whether there is one on this machine.
    static boolean isThere() {
        return List.of("chromium", "chromedriver").stream().allMatch(name -> Arrays.stream(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, name))));
    }

    /// Below those that a kernel gives away unless told otherwise, so that nobody else gets it before it is used.
    static int freePort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 30_000);
            try (ServerSocket free = new ServerSocket(port)) {
                return free.getLocalPort();
            } catch (BindException e) {
                // Another one, then.
            }
        }
    }

    private void awaitDriver() throws Exception {
        long patient = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            try {
                ask("GET", "/status", "");
                return;
            } catch (IOException e) {
                if (System.nanoTime() > patient || !driver.isAlive()) {
                    driver.destroyForcibly();
                    throw new AssertionError("chromedriver does not answer", e);
                }
                Thread.sleep(100);
            }
        }
    }

    private JsonTree ask(String method, String path, String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(address + session + path))
                .method(method, body.isEmpty() ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body)).build();
        var response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            throw new AssertionError(method + " " + path + " " + body + ": " + new String(response.body(), StandardCharsets.UTF_8));
        }
        return JsonTree.parse(response.body()).at("value");
    }

    void open(String url) throws Exception {
        ask("POST", "/url", "{\"url\":" + quoted(url) + "}");
    }

    /// What a script returns, run in the page.
    JsonTree script(String script) throws Exception {
        return ask("POST", "/execute/sync", "{\"script\":" + quoted(script) + ",\"args\":[]}");
    }

    /// The text that the page shows for an element.
    String text(String selector) throws Exception {
        return ask("GET", "/element/" + find(selector) + "/text", "").text();
    }

    void click(String selector) throws Exception {
        ask("POST", "/element/" + find(selector) + "/click", "{}");
    }

    void type(String selector, String keys) throws Exception {
        ask("POST", "/element/" + find(selector) + "/value", "{\"text\":" + quoted(keys) + "}");
    }

    private String find(String selector) throws Exception {
        return ask("POST", "/element", "{\"using\":\"css selector\",\"value\":" + quoted(selector) + "}").at(ELEMENT).text();
    }

    /// Waits until a script returns true.
    void await(String script) throws Exception {
        long patient = System.nanoTime() + PATIENCE_NANOS;
        while (!script("return Boolean(" + script + ")").isTrue()) {
            if (System.nanoTime() > patient) {
                throw new AssertionError("never: " + script + "; the page says: " + text("body") + "; complaints: " + complaints());
            }
            Thread.sleep(50);
        }
    }

    /// Everything that the browser warns of in the page, such as a breach of its policy or an error of a script.
    List<String> complaints() throws Exception {
        return ask("POST", "/se/log", "{\"type\":\"browser\"}").elements().stream()
                .filter(entry -> List.of("SEVERE", "WARNING").contains(entry.at("level").text())).map(entry -> entry.at("message").text()).toList();
    }

    /// A screen of another size, or the dark one.
    void screen(int wide, int high, boolean phone, boolean dark) throws Exception {
        developer("Emulation.setDeviceMetricsOverride", "{\"width\":" + wide + ",\"height\":" + high + ",\"deviceScaleFactor\":1,\"mobile\":" + phone + "}");
        developer("Emulation.setEmulatedMedia", "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"" + (dark ? "dark" : "light") + "\"}]}");
    }

    byte[] picture() throws Exception {
        return Base64.getDecoder().decode(developer("Page.captureScreenshot", "{\"format\":\"png\"}").at("data").text());
    }

    private JsonTree developer(String command, String parameters) throws Exception {
        return ask("POST", "/goog/cdp/execute", "{\"cmd\":\"" + command + "\",\"params\":" + parameters + "}");
    }

    private static String quoted(String text) {
        var escapes = Map.of('"', "\\\"", '\\', "\\\\", '\n', "\\n");
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> quoted.append(escapes.getOrDefault((char) c, String.valueOf((char) c))));
        return quoted.append('"').toString();
    }

    @Override
    public void close() {
        try {
            ask("DELETE", "", "");
        } catch (IOException e) {
            // It has ended already.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            driver.descendants().forEach(ProcessHandle::destroy);
            driver.destroy();
        }
    }
}
