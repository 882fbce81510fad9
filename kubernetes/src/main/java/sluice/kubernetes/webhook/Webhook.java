package sluice.kubernetes.webhook;

import java.io.PrintStream;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import sluice.kubernetes.cluster.Cluster;
import sluice.region.place.SluiceException;

/// The webhook as a whole: it serves, keeps its certificate in the cluster's configuration, and makes a new one in time.
public final class Webhook implements AutoCloseable {
    private final Times times;
    private final String host;
    private final WebhookConfiguration configuration;
    private final PrintStream log;
    private final RotatingKey served = new RotatingKey();
    private final WebhookServer server;
    private final Thread keeper;
    private ServingKey current;
    private ServingKey next;
    private Instant nextSince = Instant.MAX;
    private String lastProblem = "";

    /// How long what takes.
    ///
    /// @param days    for which a certificate holds
    /// @param renew   this long before its end there is a new one
    /// @param learned this long after it changed, each API server has the configuration
    /// @param repeat  between two looks at the configuration
    public record Times(int days, Duration renew, Duration learned, Duration repeat) {
        public static final Times USUAL = new Times(14, Duration.ofDays(7), Duration.ofSeconds(60), Duration.ofSeconds(30));
    }

    /// @param port          0: any that is free
    /// @param host          by which the API server calls: `SERVICE.NAMESPACE.svc`
    /// @param configuration name of the MutatingWebhookConfiguration
    public Webhook(int port, String host, String configuration, Cluster cluster, Times times, PrintStream log) {
        this.host = host;
        this.configuration = new WebhookConfiguration(cluster, configuration);
        this.times = times;
        this.log = log;
        current = ServingKey.make(host, times.days());
        served.use(current);
        server = new WebhookServer(port, served, new AdmissionReviews(cluster), log);
        keeper = Thread.ofPlatform().daemon().name("keeper").start(this::keep);
    }

    public int port() {
        return server.port();
    }

    private void keep() {
        while (!Thread.currentThread().isInterrupted()) {
            boolean done = attempt();
            try {
                Thread.sleep(done ? times.repeat() : Duration.ofSeconds(2));
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private boolean attempt() {
        try {
            bring(Instant.now());
            return true;
        } catch (RuntimeException e) {
            String problem = e instanceof SluiceException ? e.getMessage() : "the webhook failed: " + e;
            if (!lastProblem.equals(problem)) {
                lastProblem = problem;
                log.println("sluice-kubernetes: " + problem + "; trying again");
            }
            return false;
        }
    }

    /// A new certificate is first told to the cluster and then served, so that no API server meets one that it does not know.
    private void bring(Instant now) {
        if (next == null && current.until().minus(times.renew()).isBefore(now)) {
            next = ServingKey.make(host, times.days());
            nextSince = Instant.MAX;
        }
        List<X509Certificate> own = new ArrayList<>(List.of(current.certificate()));
        if (next != null) {
            own.add(next.certificate());
        }
        server.answer(configuration.complete(own, now));
        if (next != null && nextSince.equals(Instant.MAX)) {
            nextSince = now;
        }
        if (next != null && !now.isBefore(nextSince.plus(times.learned()))) {
            served.use(next);
            current = next;
            next = null;
            log.println("sluice-kubernetes: the webhook has a new certificate, until " + current.until());
        }
    }

    @Override
    public void close() {
        keeper.interrupt();
        server.close();
    }
}
