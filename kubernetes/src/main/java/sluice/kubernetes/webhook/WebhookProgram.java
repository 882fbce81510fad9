package sluice.kubernetes.webhook;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterClient;
import sluice.region.place.SluiceException;

/// The command `sluice-kubernetes webhook`: runs until it is stopped.
public final class WebhookProgram {
    private static final int MISTAKE = 2;
    private static final int PORTS = 65_536;

    private WebhookProgram() {}

    public static void run(List<String> arguments, Map<String, String> environment) throws InterruptedException {
        CountDownLatch stopped = new CountDownLatch(1);
        try {
            Map<String, String> values = parse(arguments, environment);
            Cluster cluster = values.get("--server").isEmpty() ? ClusterClient.ofPod(environment)
                    : new ClusterClient(URI.create(values.get("--server")), Optional.empty(), Optional.empty());
            String host = values.get("--service") + "." + values.get("--namespace") + ".svc";
            if (!host.matches("[a-z0-9.-]{1,253}")) {
                throw new SluiceException("'" + host + "' is no name of a service; set --service, and --namespace or POD_NAMESPACE");
            }
            Webhook webhook = new Webhook(port(values.get("--port")), host, values.get("--configuration"), cluster, Webhook.Times.USUAL, System.err);
            System.err.println("sluice-kubernetes: the webhook listens on port " + webhook.port());
            Runtime.getRuntime().addShutdownHook(new Thread(webhook::close));
        } catch (SluiceException | IllegalArgumentException e) {
            System.err.println("sluice-kubernetes: " + e.getMessage());
            System.exit(MISTAKE);
        }
        stopped.await();
    }

    public static String help() {
        return """
                sluice-kubernetes webhook: translates pods of HAMi and Alnair
                  --port VALUE  to listen on; default 8443
                  --service VALUE  name of its Service; default sluice-webhook
                  --namespace VALUE  of its Service; default $POD_NAMESPACE
                  --configuration VALUE  the MutatingWebhookConfiguration; default sluice-older-tools
                  --server VALUE  address of the API server without credentials, for tests; default that of the pod""";
    }

    private static Map<String, String> parse(List<String> arguments, Map<String, String> environment) {
        Map<String, String> values = new TreeMap<>(Map.of("--port", "8443", "--service", "sluice-webhook", "--namespace", environment.getOrDefault("POD_NAMESPACE", ""),
                "--configuration", "sluice-older-tools", "--server", ""));
        for (int at = 0; at < arguments.size(); at += 2) {
            if (!values.containsKey(arguments.get(at)) || at + 1 == arguments.size()) {
                throw new SluiceException("'" + arguments.get(at) + "' is no option with a value; there are\n" + help());
            }
            values.put(arguments.get(at), arguments.get(at + 1));
        }
        return values;
    }

    private static int port(String text) {
        if (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) >= PORTS) {
            throw new SluiceException("'" + text + "' is no port");
        }
        return Integer.parseInt(text);
    }
}
