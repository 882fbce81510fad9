package sluice.kubernetes.webhook;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Cluster;
import sluice.region.place.SluiceException;

/// What the API server knows of the webhook: which certificates to trust, and the path to ask.
///
/// Several programs serve one webhook, each with a certificate of its own, so all their certificates are there. The path has a secret: nobody but
/// the API server and administrators can read it, so nobody else can make the program write templates.
record WebhookConfiguration(Cluster cluster, String name) {
    /// Which pods come on which path; the rest of the webhook's name is the same.
    enum Kind {
        /// All pods of namespaces with a label.
        LABELLED,
        /// Pods that name a resource of an older tool, in all namespaces.
        NAMED;

        private String prefix() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final String PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/";
    private static final Pattern SECRET_PATH = Pattern.compile("/(labelled|named)/[0-9a-f]{64}");
    private static final int SECRET_BYTES = 32;
    private static final int MOST_CERTIFICATES = 32;

    /// Adds what is missing: these certificates, and a path with a secret.
    ///
    /// @return the paths
    Map<String, Kind> complete(List<X509Certificate> own, Instant now) {
        JsonTree there = cluster.get(PATH + name);
        Map<String, Object> object = new LinkedHashMap<>(map(there));
        List<Object> webhooks = new ArrayList<>();
        Map<String, Kind> paths = new LinkedHashMap<>();
        boolean changed = false;
        for (JsonTree webhook : there.at("webhooks").elements()) {
            Kind kind = kind(webhook.at("name").text());
            JsonTree client = webhook.at("clientConfig");
            Map<String, Object> service = new LinkedHashMap<>(map(client.at("service")));
            if (!(service.get("path") instanceof String path && SECRET_PATH.matcher(path).matches() && path.startsWith("/" + kind.prefix() + "/"))) {
                service.put("path", "/" + kind.prefix() + "/" + secret());
            }
            paths.put(service.get("path").toString(), kind);
            String bundle = Base64.getEncoder().encodeToString(bundle(client.at("caBundle").value(), own, now).getBytes(StandardCharsets.US_ASCII));
            Map<String, Object> completed = new LinkedHashMap<>(map(client));
            completed.put("service", service);
            completed.put("caBundle", bundle);
            changed |= !completed.equals(client.value());
            Map<String, Object> one = new LinkedHashMap<>(map(webhook));
            one.put("clientConfig", completed);
            webhooks.add(one);
        }
        if (changed) {
            object.put("webhooks", webhooks);
            cluster.replace(PATH + name, object);
        }
        return paths;
    }

    private static Kind kind(String name) {
        for (Kind kind : Kind.values()) {
            if (name.startsWith(kind.prefix() + ".")) {
                return kind;
            }
        }
        throw new SluiceException("the webhook " + name + " begins neither with 'labelled.' nor with 'named.'");
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(JsonTree json) {
        if (json.value() instanceof Map<?, ?> map) {
            return (Map<String, Object>) map;
        }
        throw new SluiceException("the webhook's configuration has no service; apply the manifests again");
    }

    private static String secret() {
        byte[] bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        // The API server takes only small letters and digits in a path.
        return HexFormat.of().formatHex(bytes);
    }

    /// Its own, and of the others those that hold and are newest.
    private static String bundle(Object before, List<X509Certificate> own, Instant now) {
        List<X509Certificate> all = new ArrayList<>(own);
        if (before instanceof String text) {
            parse(text).stream().filter(each -> each.getNotAfter().toInstant().isAfter(now) && !own.contains(each))
                    .sorted(Comparator.comparing(X509Certificate::getNotBefore).reversed()).limit(MOST_CERTIFICATES).forEach(all::add);
        }
        all.sort(Comparator.comparing(X509Certificate::getNotBefore).thenComparing(X509Certificate::getSerialNumber));
        return String.join("", all.stream().map(ServingKey::pem).toList());
    }

    private static List<X509Certificate> parse(String base64) {
        List<X509Certificate> read = new ArrayList<>();
        try {
            for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(Base64.getMimeDecoder().decode(base64)))) {
                read.add((X509Certificate) certificate);
            }
        } catch (CertificateException | IllegalArgumentException e) {
            // What nobody can read, nobody needs.
            return List.of();
        }
        return read;
    }
}
