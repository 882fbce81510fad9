package sluice.kubernetes.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import sluice.api.json.JsonTree;
import sluice.region.place.SluiceException;

/// The API server over HTTP. A pod's own account: its token is read for each request, because kubelet renews it.
public final class ClusterClient implements Cluster {
    private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /// Many claims at once share so many connections: each new one is a TLS handshake, which takes longer than the request.
    private static final int CONNECTIONS = 8;
    private static final Duration TURN = Duration.ofSeconds(1);
    private static final int FIRST_ERROR = 300;
    private static final int SHOWN = 300;
    private static final String MANAGER = "gpu.sluice.dev";

    private final URI server;
    private final Optional<Path> token;
    private final HttpClient client;
    private final Semaphore connections = new Semaphore(CONNECTIONS, true);

    /// @param token     file; none: without
    /// @param authority file with the certificates to trust; none: those of Java
    public ClusterClient(URI server, Optional<Path> token, Optional<Path> authority) {
        this.server = server;
        this.token = token;
        HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(PATIENCE).version(HttpClient.Version.HTTP_1_1);
        authority.ifPresent(file -> builder.sslContext(trusting(file)));
        client = builder.build();
    }

    /// As kubelet tells each pod.
    public static ClusterClient ofPod(Map<String, String> environment) {
        String host = environment.get("KUBERNETES_SERVICE_HOST");
        if (host == null) {
            throw new SluiceException("this is no pod of a cluster: KUBERNETES_SERVICE_HOST is not set; name the API server with --server");
        }
        String address = host.contains(":") ? "[" + host + "]" : host;
        return new ClusterClient(URI.create("https://" + address + ":" + environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443")), Optional.of(ACCOUNT.resolve("token")),
                Optional.of(ACCOUNT.resolve("ca.crt")));
    }

    private static SSLContext trusting(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
            trusted.load(null, null);
            int number = 0;
            for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                trusted.setCertificateEntry("authority-" + number++, certificate);
            }
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(trusted);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new SluiceException("cannot use the certificates in " + file + " (" + e.getMessage() + ")", e);
        }
    }

    @Override
    public JsonTree get(String path) {
        return JsonTree.parse(ask("GET", path, new byte[0]));
    }

    @Override
    public JsonTree create(String path, Map<String, Object> object) {
        return JsonTree.parse(ask("POST", path, JsonObject.bytes(object)));
    }

    @Override
    public void replace(String path, Map<String, Object> object) {
        ask("PUT", path, JsonObject.bytes(object));
    }

    @Override
    public void apply(String path, Map<String, Object> object) {
        ask("PATCH", path + "?fieldManager=" + MANAGER + "&force=true", JsonObject.bytes(object));
    }

    @Override
    public void delete(String path) {
        ask("DELETE", path, new byte[0]);
    }

    private byte[] ask(String method, String path, byte[] body) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(server.resolve(path)).timeout(PATIENCE).header("Accept", "application/json")
                    .method(method, HttpRequest.BodyPublishers.ofByteArray(body));
            if (body.length > 0) {
                request.header("Content-Type", method.equals("PATCH") ? "application/apply-patch+yaml" : "application/json");
            }
            if (token.isPresent()) {
                request.header("Authorization", "Bearer " + Files.readString(token.get()).strip());
            }
            HttpResponse<byte[]> answer = inTurn(request.build());
            if (answer.statusCode() >= FIRST_ERROR) {
                throw new ClusterException(answer.statusCode(), "the API server answers " + answer.statusCode() + " to " + method + " " + path + ": " + message(answer.body()), null);
            }
            return answer.body();
        } catch (IOException e) {
            throw new ClusterException(0, "the API server at " + server + " does not answer (" + SluiceException.reason(e) + ")", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException(0, "interrupted while the API server was asked", e);
        }
    }

    /// Nobody waits long for a connection: a slow server gets more of them.
    private HttpResponse<byte[]> inTurn(HttpRequest request) throws IOException, InterruptedException {
        boolean isInTurn = connections.tryAcquire(TURN.toMillis(), TimeUnit.MILLISECONDS);
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofByteArray());
        } finally {
            if (isInTurn) {
                connections.release();
            }
        }
    }

    private static String message(byte[] body) {
        String text;
        try {
            JsonTree json = JsonTree.parse(body);
            text = json.has("message") ? json.at("message").text() : "";
        } catch (SluiceException e) {
            text = "";
        }
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN);
    }
}
