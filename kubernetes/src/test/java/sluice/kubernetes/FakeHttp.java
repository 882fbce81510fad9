package sluice.kubernetes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.JsonObject;

/// An API server that keeps objects by their paths, counts versions, and validates nothing.
public final class FakeHttp implements AutoCloseable {
    /// An answer that makes the status 403.
    static final String FORBIDDEN = "{\"message\": \"forbidden\"}";

    private final HttpServer server;
    private final Map<String, String> objects = new ConcurrentHashMap<>();
    private final Map<String, UnaryOperator<String>> answers = new ConcurrentHashMap<>();
    public final List<String> asked = new CopyOnWriteArrayList<>();
    private long version;

    public FakeHttp() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    /// Answers a POST to a path by what was posted, and keeps nothing of it.
    void answer(String path, UnaryOperator<String> answer) {
        answers.put(path, answer);
    }

    public URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    public void put(String path, Map<String, Object> object) {
        objects.put(path, new String(JsonObject.bytes(object), StandardCharsets.UTF_8));
    }

    public void put(String path, String json) {
        objects.put(path, json);
    }

    void remove(String path) {
        objects.remove(path);
    }

    String text(String path) {
        return objects.get(path);
    }

    /// The objects whose paths begin so.
    List<JsonTree> below(String path) {
        return objects.keySet().stream().filter(each -> each.startsWith(path)).map(this::get).toList();
    }

    public JsonTree get(String path) {
        String text = objects.get(path);
        return text == null ? new JsonTree(null) : JsonTree.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        asked.add(exchange.getRequestMethod() + " " + path);
        int status = 200;
        String text;
        synchronized (this) {
            text = switch (exchange.getRequestMethod()) {
                case "POST" -> answers.containsKey(path) ? answers.get(path).apply(body) : create(path + "/" + JsonTree.parse(body.getBytes(StandardCharsets.UTF_8)).at("metadata").at("name").text(), body);
                case "PUT", "PATCH" -> store(path, body);
                case "DELETE" -> objects.remove(path);
                default -> objects.get(path);
            };
        }
        if (text == null && exchange.getRequestMethod().equals("POST")) {
            status = 409;
            text = "{\"message\": \"it exists\"}";
        } else if (text == null) {
            status = 404;
            text = "{\"message\": \"there is no " + path + "\"}";
        }
        status = text.equals(FORBIDDEN) ? 403 : status;
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private String create(String path, String body) {
        return objects.containsKey(path) ? null : store(path, body);
    }

    private String store(String path, String body) {
        String versioned = body.replaceFirst("\"metadata\":\\{(\"resourceVersion\":\"[^\"]*\",)?", "\"metadata\":{\"resourceVersion\":\"" + ++version + "\",");
        objects.put(path, versioned);
        return versioned;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
