package sluice.kubernetes.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import sluice.api.json.JsonTree;
import sluice.fault.Fault;
import sluice.kubernetes.FakeHttp;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.kubernetes.cluster.JsonObject;

/// The webhook as the API server meets it: over TLS, with the certificates and the path of its configuration.
@Timeout(120)
class WebhookTest {
    private static final String CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/sluice-older-tools";
    private static final String TEMPLATES = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaimtemplates/";
    private static final String MANIFEST = "{'metadata': {'name': 'sluice-older-tools'}, 'webhooks': ["
            + "{'name': 'labelled.older-tools.sluice.dev', 'clientConfig': {'service': {'name': 'sluice-webhook', 'namespace': 'sluice-system', 'port': 443}}, 'timeoutSeconds': 10},"
            + "{'name': 'named.older-tools.sluice.dev', 'clientConfig': {'service': {'name': 'sluice-webhook', 'namespace': 'sluice-system', 'port': 443}}}]}";
    private static final String POD = "{'spec': {'containers': [{'name': 'main', 'resources': {'limits': {'nvidia.com/gpu': '1', 'nvidia.com/gpumem': '%d'}}}]}}";
    /// The server has the name of a Service, and is called by an address here.
    private static final String HOST = "localhost";

    private FakeHttp cluster;
    private Webhook webhook;
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeHttp();
        cluster.put(CONFIGURATION, MANIFEST.replace('\'', '"'));
        webhook = webhook(Webhook.Times.USUAL);
        await(() -> caBundle().length() > 0);
    }

    private Webhook webhook(Webhook.Times times) {
        return new Webhook(0, HOST, "sluice-older-tools", new ClusterClient(cluster.address(), Optional.empty(), Optional.empty()), times, new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void stop() {
        webhook.close();
        cluster.close();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int attempt = 0; attempt < 1200 && !condition.getAsBoolean(); attempt++) {
            Thread.sleep(25);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    private JsonTree configured(int at) {
        return cluster.get(CONFIGURATION).at("webhooks").elements().get(at).at("clientConfig");
    }

    private String caBundle() {
        return configured(1).at("caBundle").value() instanceof String text ? text : "";
    }

    private Collection<? extends Certificate> certificates() throws Exception {
        return CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(Base64.getDecoder().decode(caBundle())));
    }

    private HttpClient client() throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        int number = 0;
        for (Certificate certificate : certificates()) {
            trusted.setCertificateEntry("c" + number++, certificate);
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return HttpClient.newBuilder().sslContext(context).connectTimeout(Duration.ofSeconds(20)).build();
    }

    private HttpResponse<byte[]> post(int at, byte[] body) throws Exception {
        return post(client(), configured(at).at("service").at("path").text(), body);
    }

    private HttpResponse<byte[]> post(HttpClient client, String path, byte[] body) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create("https://" + HOST + ":" + webhook.port() + path)).timeout(Duration.ofSeconds(40))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body)).build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private static byte[] review(String pod, boolean dryRun) {
        return ("{'apiVersion': 'admission.k8s.io/v1', 'kind': 'AdmissionReview', 'request': {'uid': 'u-1', 'namespace': 'team', 'operation': 'CREATE', 'dryRun': " + dryRun
                + ", 'object': " + pod + "}}").replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    }

    private JsonTree answer(int at, byte[] review) throws Exception {
        HttpResponse<byte[]> answer = post(at, review);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(JsonTree.parse(answer.body()).at("response").at("uid").text()).isEqualTo("u-1");
        return JsonTree.parse(answer.body()).at("response");
    }

    private long templates() {
        return cluster.asked.stream().filter(("POST " + TEMPLATES.substring(0, TEMPLATES.length() - 1))::equals).count();
    }

    @Test
    void shouldAnswerTheApiServerThatTrustsTheConfiguration() throws Exception {
        JsonTree response = answer(1, review(POD.formatted(3000), false));

        assertThat(response.at("allowed").isTrue()).isTrue();
        assertThat(response.at("patchType").text()).isEqualTo("JSONPatch");
        JsonTree patched = Patched.of(JsonTree.parse(POD.formatted(3000).replace('\'', '"').getBytes(StandardCharsets.UTF_8)), operations(response));
        String template = patched.at("spec").at("resourceClaims").elements().getFirst().at("resourceClaimTemplateName").text();
        JsonTree made = cluster.get(TEMPLATES + template);
        assertThat(made.at("spec").at("spec").at("devices").at("requests").elements().getFirst().at("exactly").at("capacity").at("requests").at("memory").text())
                .isEqualTo(Long.toString(3000L << 20));
        assertThat(made.at("metadata").at("namespace").text()).isEqualTo("team");
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> operations(JsonTree response) {
        return (List<Map<String, Object>>) JsonTree.parse(Base64.getDecoder().decode(response.at("patch").text())).value();
    }

    @Test
    void shouldMakeATemplateOnceAndNoneForADryRun() throws Exception {
        JsonTree dry = answer(1, review(POD.formatted(100), true));
        assertThat(dry.at("allowed").isTrue()).isTrue();
        assertThat(dry.has("patch")).isTrue();
        assertThat(templates()).isZero();

        JsonTree first = answer(1, review(POD.formatted(100), false));
        JsonTree second = answer(1, review(POD.formatted(100), false));
        assertThat(second).isEqualTo(first).isEqualTo(dry);
        assertThat(templates()).as("the second was told that there is one").isEqualTo(2);
    }

    @Test
    void shouldTranslatePlainGpusInLabelledNamespacesOnly() throws Exception {
        String plain = "{'spec': {'containers': [{'resources': {'limits': {'nvidia.com/gpu': '1'}}}]}}";
        assertThat(answer(0, review(plain, false)).has("patch")).isTrue();
        assertThat(answer(1, review(plain, false)).has("patch")).isFalse();
        assertThat(answer(1, review(plain, false)).at("allowed").isTrue()).isTrue();
    }

    @Test
    void shouldRefuseAPodWithTheReason() throws Exception {
        JsonTree response = answer(1, review("{'spec': {'containers': [{'resources': {'limits': {'nvidia.com/gpumem': '0.5'}}}]}}", false));

        assertThat(response.at("allowed").isTrue()).isFalse();
        assertThat(response.at("status").at("message").text()).contains("spec.containers.0").contains("nvidia.com/gpumem '0.5' is no whole number");
        assertThat(templates()).isZero();
    }

    @Test
    void shouldRefuseWhenTheApiServerMakesNoTemplate() throws Exception {
        HttpClient client = client();
        String path = configured(1).at("service").at("path").text();
        cluster.close();
        JsonTree response = JsonTree.parse(post(client, path, review(POD.formatted(1), false)).body()).at("response");
        assertThat(response.at("allowed").isTrue()).isFalse();
        assertThat(response.at("status").at("code").number()).isEqualTo(503);
    }

    @Test
    void shouldAnswerNobodyWithoutTheSecretPath() throws Exception {
        String path = configured(1).at("service").at("path").text();
        assertThat(path).matches("/named/[0-9a-f]{64}");
        assertThat(configured(0).at("service").at("path").text()).startsWith("/labelled/").isNotEqualTo(path);
        for (String wrong : List.of("/", "/named", "/named/", path + "x", path.substring(0, path.length() - 1), path.toUpperCase(java.util.Locale.ROOT), path + "/..", "/named/" + "a".repeat(64))) {
            assertThat(post(client(), wrong, review(POD.formatted(1), false)).statusCode()).as(wrong).isEqualTo(404);
        }
        assertThat(templates()).isZero();
        assertThat(client().send(HttpRequest.newBuilder(URI.create("https://" + HOST + ":" + webhook.port() + "/ready")).build(), HttpResponse.BodyHandlers.discarding()).statusCode()).isEqualTo(200);
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "AdmissionReviews")
    @Test
    void shouldSurviveHostileReviews() throws Exception {
        HttpClient client = client();
        String path = configured(1).at("service").at("path").text();
        String container = "{'name':'c','resources':{'limits':{'nvidia.com/gpumem':'%d'}}}";
        List<String> many = new ArrayList<>();
        for (int number = 0; number < 10_000; number++) {
            many.add(container.formatted(number + 1));
        }
        JsonTree refused = JsonTree.parse(post(client, path, review("{'spec': {'containers': [" + String.join(",", many) + "]}}", false)).body()).at("response");
        assertThat(refused.at("allowed").isTrue()).isFalse();
        assertThat(refused.at("status").at("message").text()).contains("10000 containers ask for a GPU");

        for (String pod : List.of("{}", "[]", "null", "7", "'x'", "{'spec': 7}", "{'spec': {'containers': {}}}", "{'spec': {'containers': [7, null, [], {'resources': []}]}}",
                "{'spec': {'containers': [{'resources': {'limits': 'x', 'requests': [1]}}]}}", "{'metadata': {'annotations': [1]}, 'spec': {'containers': [{'resources': {'limits': {'nvidia.com/gpumem': 1e999}}}]}}",
                "{'spec': {'containers': [{'resources': {'claims': 7, 'limits': {'nvidia.com/gpumem': '1'}}}]}}")) {
            HttpResponse<byte[]> answer = post(client, path, review(pod, false));
            assertThat(answer.statusCode()).as(pod).isEqualTo(200);
            assertThat(JsonTree.parse(answer.body()).at("response").at("uid").text()).isEqualTo("u-1");
        }
        for (String body : List.of("", "{", "NaN", "{'request': {'uid': NaN}}", "{'request': {}}", "{'request': {'uid': ''}}", "[".repeat(100_000), "{'request':".repeat(2000), "\0\0\0")) {
            assertThat(post(client, path, body.replace('\'', '"').getBytes(StandardCharsets.UTF_8)).statusCode()).isEqualTo(400);
        }
        assertThat(post(client, path, ("[" + "[],".repeat(400_000) + "[]]").getBytes(StandardCharsets.UTF_8)).statusCode()).isEqualTo(413);
        assertThat(post(client, path, new byte[5 << 20]).statusCode()).isEqualTo(413);
        Random random = new Random(5);
        byte[] valid = review(POD.formatted(77), false);
        for (int number = 0; number < 300; number++) {
            byte[] damaged = valid.clone();
            for (int flips = random.nextInt(6); flips >= 0; flips--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
            }
            assertThat(post(client, path, damaged).statusCode()).isIn(200, 400);
        }
        assertThat(answer(1, review(POD.formatted(2000), false)).at("allowed").isTrue()).isTrue();
        assertThat(log.toString(StandardCharsets.UTF_8)).doesNotContain("failed");
    }

    @Fault(kind = Fault.Kind.EXHAUST, of = "the webhook, by clients that send nothing")
    @Test
    void shouldAnswerWhileOthersHoldConnections() throws Exception {
        List<Socket> idle = new ArrayList<>();
        try {
            for (int number = 0; number < 200; number++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), webhook.port());
                socket.getOutputStream().write(number % 2 == 0 ? new byte[0] : new byte[] {22, 3, 1});
                idle.add(socket);
            }
            assertThat(answer(1, review(POD.formatted(50), false)).at("allowed").isTrue()).isTrue();
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }

    @Test
    void shouldAnswerAHundredPodsAtOnce() throws Exception {
        HttpClient client = client();
        String path = configured(1).at("service").at("path").text();
        try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> all = new ArrayList<>();
            for (int number = 0; number < 100; number++) {
                byte[] review = review(POD.formatted(number % 10 + 1), false);
                all.add(pool.submit(() -> post(client, path, review).statusCode()));
            }
            for (Future<Integer> one : all) {
                assertThat(one.get()).isEqualTo(200);
            }
        }
    }

    @Test
    void shouldRenewItsCertificateWithoutAGap() throws Exception {
        webhook.close();
        webhook = webhook(new Webhook.Times(2, Duration.ofDays(1).plusHours(22).plusMinutes(59).plusSeconds(55), Duration.ofSeconds(2), Duration.ofMillis(200)));
        String before = caBundle();
        await(() -> !caBundle().equals(before));
        int served = 0;
        for (int number = 0; number < 400 && !log.toString(StandardCharsets.UTF_8).contains("has a new certificate"); number++) {
            answer(1, review(POD.formatted(1), true));
            served++;
        }
        assertThat(log.toString(StandardCharsets.UTF_8)).contains("has a new certificate");
        assertThat(answer(1, review(POD.formatted(1), true)).at("allowed").isTrue()).isTrue();
        assertThat(served).isGreaterThan(2);
    }

    @Test
    void shouldServeBesideAnotherAndTrustBoth() throws Exception {
        Webhook first = webhook;
        String path = configured(1).at("service").at("path").text();
        try (Webhook second = webhook(Webhook.Times.USUAL)) {
            await(() -> {
                try {
                    return certificates().size() == 2;
                } catch (Exception e) {
                    return false;
                }
            });
            assertThat(configured(1).at("service").at("path").text()).as("both answer on one path").isEqualTo(path);
            assertThat(answer(1, review(POD.formatted(1), true)).at("allowed").isTrue()).isTrue();
            webhook = second;
            await(() -> ready());
            assertThat(answer(1, review(POD.formatted(1), true)).at("allowed").isTrue()).isTrue();
        } finally {
            webhook = first;
        }
    }

    private boolean ready() {
        try {
            return client().send(HttpRequest.newBuilder(URI.create("https://" + HOST + ":" + webhook.port() + "/ready")).build(), HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (Exception e) {
            return false;
        }
    }

    @Fault(kind = Fault.Kind.SWAP, of = "the certificates of the webhook")
    @Test
    void shouldNotBeTrustedWithAnotherCertificate() throws Exception {
        ServingKey other = ServingKey.make(HOST, 1);
        assertThat(other.certificate().getSubjectAlternativeNames()).hasSize(1);
        String text = Base64.getEncoder().encodeToString(other.pem().getBytes(StandardCharsets.US_ASCII));
        String json = new String(JsonObject.bytes(asMap(cluster.get(CONFIGURATION))), StandardCharsets.UTF_8);
        cluster.put(CONFIGURATION, json.replaceAll("\"caBundle\":\"[^\"]*\"", "\"caBundle\":\"" + text + "\""));
        HttpClient client = client();
        assertThatThrownBy(() -> post(client, "/ready", new byte[0])).isInstanceOf(SSLHandshakeException.class);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> asMap(JsonTree json) {
        return (Map<String, Object>) json.value();
    }
}
