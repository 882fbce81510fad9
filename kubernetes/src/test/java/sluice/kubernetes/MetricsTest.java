package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.fault.Fault;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.region.place.SluiceException;

/// The metrics on the pod network, with real TLS, against a fake API server and a fake agent.
@Timeout(60)
class MetricsTest {
    private static final String REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
    private static final String ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

    @TempDir
    private Path folder;

    private FakeHttp cluster;
    private FakeAgent agent;
    private NodeDriver driver;
    private int port;
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeHttp();
        cluster.put("/api/v1/nodes/node-1", Map.of("metadata", Map.of("name", "node-1", "uid", "node-uid")));
        cluster.answer(REVIEWS, body -> body.contains("\"good\"") || body.contains("\"stranger\"")
                ? "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"" + body.replaceAll(".*\"token\":\"([^\"]*)\".*", "$1") + "\",\"groups\":[\"all\"]}}}"
                : "{\"status\":{\"authenticated\":false}}");
        cluster.answer(ACCESS, body -> "{\"status\":{\"allowed\":" + (body.contains("\"user\":\"good\"") && body.contains("/metrics")) + "}}");
        agent = new FakeAgent(folder.resolve("agent/agent.sock"));
        certificate("first");
        port = freePort();
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private NodeDriver driver(String... more) {
        List<String> options = new ArrayList<>(List.of("--node", "node-1", "--agent", folder.resolve("agent/agent.sock").toString(), "--kubelet", folder.resolve("kubelet").toString(),
                "--state", folder.resolve("state").toString(), "--cdi", folder.resolve("cdi").toString(), "--metrics-port", Integer.toString(port), "--metrics-tls", folder.resolve("tls").toString()));
        options.addAll(List.of(more));
        return new NodeDriver(NodeSettings.parse(options, Map.of()), new ClusterClient(cluster.address(), Optional.empty(), Optional.empty()), new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    private void certificate(String name) throws Exception {
        certificate(name, "EC");
    }

    /// Made by the JDK's own tool.
    private void certificate(String name, String algorithm) throws Exception {
        Path store = folder.resolve(name + ".p12");
        Path tool = Path.of(System.getProperty("java.home"), "bin/keytool");
        assertThat(new ProcessBuilder(tool.toString(), "-genkeypair", "-alias", "tls", "-keyalg", algorithm, "-dname", "CN=" + name, "-validity", "2", "-keystore", store.toString(), "-storetype", "PKCS12",
                "-storepass", "secret").redirectErrorStream(true).start().waitFor()).isZero();
        KeyStore keys = KeyStore.getInstance(store.toFile(), "secret".toCharArray());
        Files.createDirectories(folder.resolve("tls"));
        Files.writeString(folder.resolve("tls/tls.key"), pem("PRIVATE KEY", keys.getKey("tls", "secret".toCharArray()).getEncoded()));
        Files.writeString(folder.resolve("tls/tls.crt"), pem("CERTIFICATE", keys.getCertificate("tls").getEncoded()));
    }

    private static String pem(String what, byte[] bytes) {
        return "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes) + "\n-----END " + what + "-----\n";
    }

    @AfterEach
    void stop() throws IOException {
        if (driver != null) {
            driver.close();
        }
        agent.close();
        cluster.close();
    }

    /// A client that takes any certificate, and keeps the last.
    private static final class Trusting extends X509ExtendedTrustManager {
        private static volatile String subject = "";

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
            subject = chain[0].getSubjectX500Principal().getName();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    private HttpResponse<String> get(String method, String path, String token) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Trusting()}, null);
        try (HttpClient client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build()) {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path)).timeout(Duration.ofSeconds(20)).method(method, HttpRequest.BodyPublishers.noBody());
            if (!token.isEmpty()) {
                request.header("Authorization", "Bearer " + token);
            }
            return client.send(request.build(), BodyHandlers.ofString());
        }
    }

    private int status(String token) throws Exception {
        return get("GET", "/metrics", token).statusCode();
    }

    @Test
    void shouldShowTheAgentsMetricsToWhomTheClusterLets() throws Exception {
        driver = driver();

        assertThat(get("GET", "/metrics", "good").body()).isEqualTo("sluice_tenant_running{tenant=\"k8s.team.train\"} 1\n");

        assertThat(status("")).isEqualTo(401);
        assertThat(status("unknown")).isEqualTo(403);
        assertThat(status("stranger")).isEqualTo(403);
        assertThat(get("POST", "/metrics", "good").statusCode()).isEqualTo(405);
        assertThat(get("GET", "/v1/machine", "good").statusCode()).isEqualTo(404);
        assertThat(cluster.asked.stream().filter(("POST " + REVIEWS)::equals).count()).isEqualTo(3);
        status("good");
        assertThat(cluster.asked.stream().filter(("POST " + REVIEWS)::equals).count()).as("remembered").isEqualTo(3);
    }

    @Fault(kind = Fault.Kind.EXHAUST, of = "tokens that the cluster must judge, and slow readers of metrics")
    @Test
    void shouldNotPassOnAFloodOfTokens() throws Exception {
        driver = driver();
        List<Socket> silent = new ArrayList<>();
        for (int number = 0; number < 20; number++) {
            silent.add(new Socket("127.0.0.1", port));
        }
        assertThat(status("good")).isEqualTo(200);
        int busy = 0;
        for (int number = 0; number < 40; number++) {
            busy += status("guess-" + number) == 429 ? 1 : 0;
        }

        assertThat(busy).isPositive();
        assertThat(status("good")).as("one that is known").isEqualTo(200);
        for (Socket socket : silent) {
            socket.close();
        }
    }

    @Test
    void shouldTakeTheTokenOfAFile() throws Exception {
        Files.writeString(folder.resolve("token"), "secret-1\n");
        driver = driver("--metrics-token", folder.resolve("token").toString());

        assertThat(status("secret-1")).isEqualTo(200);
        assertThat(status("good")).isEqualTo(403);
        Files.writeString(folder.resolve("token"), "secret-2\n");
        assertThat(status("secret-1")).isEqualTo(403);
        assertThat(status("secret-2")).isEqualTo(200);
        Files.writeString(folder.resolve("token"), "");
        assertThat(status("secret-2")).as("an empty file lets nobody in").isEqualTo(403);
    }

    @Fault(kind = Fault.Kind.SWAP, of = "the certificate of the metrics")
    @Test
    void shouldUseANewCertificateAtOnce() throws Exception {
        driver = driver();
        status("good");
        assertThat(Trusting.subject).isEqualTo("CN=first");

        Files.writeString(folder.resolve("tls/tls.key"), "half");
        Files.writeString(folder.resolve("tls/tls.crt"), "half");
        assertThat(status("good")).as("while it is being replaced").isEqualTo(200);
        certificate("second");
        status("good");

        assertThat(Trusting.subject).isEqualTo("CN=second");
    }

    @Fault(kind = Fault.Kind.STOP, of = "API server and agent, while metrics are read")
    @Test
    void shouldSayWhatDoesNotAnswer() throws Exception {
        driver = driver();
        assertThat(status("good")).isEqualTo(200);
        agent.close();
        assertThat(get("GET", "/metrics", "good").body()).contains("does not answer");
        cluster.close();
        assertThat(status("other")).isEqualTo(503);
    }

    @Test
    void shouldHaveTheNamesOfOtherExportersOnTheirOwnPorts() throws Exception {
        int hami = freePort();
        driver = driver("--hami-port", Integer.toString(hami));
        try (HttpClient client = HttpClient.newHttpClient()) {
            assertThat(client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + hami + "/metrics")).build(), BodyHandlers.ofString()).body()).isEqualTo("names of hami\n");
        }
    }

    /// A client that stops in the middle of its first TLS message holds what answers it for 10 seconds.
    @Fault(kind = Fault.Kind.EXHAUST, of = "threads of the metrics, by clients that begin with TLS and go no further")
    @Test
    void shouldAnswerBesideClientsThatSendHalfAHello() throws Exception {
        driver = driver();
        List<Socket> halves = new ArrayList<>();
        for (int number = 0; number < 40; number++) {
            halves.add(new Socket("127.0.0.1", port));
            halves.getLast().getOutputStream().write(0x16);
        }
        long began = System.nanoTime();
        assertThat(status("good")).isEqualTo(200);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(8));
        for (Socket socket : halves) {
            socket.close();
        }
    }

    /// cert-manager writes PKCS#1 unless its `Certificate` says otherwise; `openssl ecparam -genkey` writes SEC1, after the parameters.
    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC"})
    void shouldReadKeysInTheirOlderForms(String algorithm) throws Exception {
        certificate("older", algorithm);
        String pem = Files.readString(folder.resolve("tls/tls.key")).replaceAll("-----.*-----|\n", "");
        byte[] pkcs8 = Base64.getDecoder().decode(pem);
        int at = algorithm.equals("RSA") ? 26 : HexFormat.of().formatHex(pkcs8).indexOf("02010104") / 2 - 2; // behind version and algorithm
        String older = pem(algorithm + " PRIVATE KEY", Arrays.copyOfRange(pkcs8, at, pkcs8.length));
        Files.writeString(folder.resolve("tls/tls.key"), (algorithm.equals("EC") ? pem("EC PARAMETERS", new byte[] {6, 1, 1}) : "") + older);
        driver = driver();

        assertThat(status("good")).as(log.toString(StandardCharsets.UTF_8)).isEqualTo(200);
        assertThat(log.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "the certificate of the metrics, when the node program starts")
    @Test
    void shouldGoOnWithoutACertificate() throws Exception {
        Files.move(folder.resolve("tls/tls.key"), folder.resolve("away"));
        driver = driver();

        try (FakeKubelet kubelet = new FakeKubelet(folder.resolve("kubelet"), "")) {
            assertThat(kubelet.info.getName()).isEqualTo("gpu.sluice.dev");
        }
        assertThatThrownBy(() -> status("good")).isInstanceOf(IOException.class);
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("tls.key").contains("answers nobody");
        Files.move(folder.resolve("away"), folder.resolve("tls/tls.key"));
        assertThat(status("good")).isEqualTo(200);
    }

    @Test
    void shouldRefuseWhatIsNoPort() {
        assertThatThrownBy(() -> driver("--hami-port", "99999")).isInstanceOf(SluiceException.class).hasMessageContaining("no port");
    }
}
