package sluice.kubernetes.metrics;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;

/// Who may read the metrics: who shows the token of a file, or whose own token the cluster knows and lets `get` the path `/metrics`.
public final class MetricsAccess {
    private static final String BEARER = "Bearer ";
    private static final int MOST_REMEMBERED = 256;
    private static final int TOKEN_LENGTH = 16 * 1024;
    private static final Duration ALLOWED_FOR = Duration.ofSeconds(60);
    private static final Duration DENIED_FOR = Duration.ofSeconds(10);
    private static final int ASKED_AT_MOST = 10;
    private static final Duration ASKED_IN = Duration.ofSeconds(10);

    private final Cluster cluster;
    private final Optional<Path> file;
    private final InstantSource clock;
    private final Map<String, Remembered> verdicts = new LinkedHashMap<>();
    private Instant window = Instant.EPOCH;
    private int askedInWindow;

    private record Remembered(Verdict verdict, Instant until) {}

    /// What a reader gets.
    enum Verdict {
        ALLOWED(200, ""),
        NO_TOKEN(401, "send 'Authorization: Bearer TOKEN'"),
        DENIED(403, "the token may not get /metrics; bind its account to the ClusterRole sluice-metrics-reader"),
        BUSY(429, "too many tokens that are not known; try again later"),
        UNKNOWN(503, "the API server does not answer whether the token may get /metrics");

        private final int status;
        private final String text;

        Verdict(int status, String text) {
            this.status = status;
            this.text = text;
        }

        int status() {
            return status;
        }

        String text() {
            return text;
        }
    }

    /// @param file with a token; none: the cluster decides
    public MetricsAccess(Cluster cluster, Optional<Path> file) {
        this(cluster, file, InstantSource.system());
    }

    MetricsAccess(Cluster cluster, Optional<Path> file, InstantSource clock) {
        this.cluster = cluster;
        this.file = file;
        this.clock = clock;
    }

    Verdict judge(String header) {
        if (header == null || !header.startsWith(BEARER) || header.length() > TOKEN_LENGTH) {
            return Verdict.NO_TOKEN;
        }
        String token = header.substring(BEARER.length()).strip();
        return token.isEmpty() ? Verdict.NO_TOKEN : file.map(path -> ofFile(path, token)).orElseGet(() -> ofCluster(token));
    }

    /// Read each time: whoever mounts it may change it.
    private static Verdict ofFile(Path path, String token) {
        try {
            byte[] wanted = Files.readString(path).strip().getBytes(StandardCharsets.UTF_8);
            return wanted.length > 0 && MessageDigest.isEqual(wanted, token.getBytes(StandardCharsets.UTF_8)) ? Verdict.ALLOWED : Verdict.DENIED;
        } catch (IOException e) {
            return Verdict.DENIED;
        }
    }

    private Verdict ofCluster(String token) {
        String digest = digest(token);
        Instant now = clock.instant();
        synchronized (this) {
            Remembered known = verdicts.get(digest);
            if (known != null && now.isBefore(known.until())) {
                return known.verdict();
            }
            if (!now.isBefore(window.plus(ASKED_IN))) {
                window = now;
                askedInWindow = 0;
            }
            if (++askedInWindow > ASKED_AT_MOST) {
                return Verdict.BUSY;
            }
        }
        Verdict verdict = ask(token);
        if (verdict != Verdict.UNKNOWN) {
            remember(digest, new Remembered(verdict, now.plus(verdict == Verdict.ALLOWED ? ALLOWED_FOR : DENIED_FOR)));
        }
        return verdict;
    }

    private synchronized void remember(String digest, Remembered verdict) {
        verdicts.remove(digest);
        if (verdicts.size() >= MOST_REMEMBERED) {
            verdicts.remove(verdicts.keySet().iterator().next());
        }
        verdicts.put(digest, verdict);
    }

    private Verdict ask(String token) {
        try {
            JsonTree review = cluster.create("/apis/authentication.k8s.io/v1/tokenreviews",
                    Map.of("apiVersion", "authentication.k8s.io/v1", "kind", "TokenReview", "spec", Map.of("token", token))).at("status");
            if (!review.at("authenticated").isTrue()) {
                return Verdict.DENIED;
            }
            JsonTree user = review.at("user");
            List<String> groups = user.has("groups") ? user.at("groups").elements().stream().map(JsonTree::text).toList() : List.of();
            JsonTree access = cluster.create("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                    Map.of("apiVersion", "authorization.k8s.io/v1", "kind", "SubjectAccessReview", "spec", Map.of("user", user.at("username").text(), "groups", groups,
                            "nonResourceAttributes", Map.of("path", "/metrics", "verb", "get"))));
            return access.at("status").at("allowed").isTrue() && !access.at("status").at("denied").isTrue() ? Verdict.ALLOWED : Verdict.DENIED;
        } catch (ClusterException e) {
            return Verdict.UNKNOWN;
        }
    }

    private static String digest(String token) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
