package sluice.kubernetes.webhook;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Cluster;
import sluice.kubernetes.cluster.ClusterException;
import sluice.kubernetes.cluster.JsonObject;
import sluice.region.place.SluiceException;

/// Answers the API server about one pod that is being made.
final class AdmissionReviews {
    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern UID = Pattern.compile("[ -~]{1,128}");
    private static final int SHOWN = 1000;
    private static final int REFUSED = 422;
    private static final int FAILED = 503;

    private final Cluster cluster;
    private final GpuSizes sizes;

    AdmissionReviews(Cluster cluster) {
        this.cluster = cluster;
        sizes = new GpuSizes(cluster, System::nanoTime);
    }

    /// What is no review fails with a [SluiceException]; a pod that cannot be translated is refused with the reason.
    ///
    /// @param all whether a pod is translated that names `nvidia.com/gpu` alone
    byte[] answer(byte[] review, boolean all) {
        JsonTree request = JsonTree.parse(review).at("request");
        if (!(request.at("uid").value() instanceof String uid) || !UID.matcher(uid).matches()) {
            throw new SluiceException("this is no AdmissionReview: request.uid is missing");
        }
        Map<String, Object> response = new LinkedHashMap<>(Map.of("uid", uid));
        try {
            PodTranslation translation = PodTranslation.of(request.at("object"), all, sizes);
            if (!translation.templates().isEmpty()) {
                make(request, translation);
                response.put("patchType", "JSONPatch");
                response.put("patch", Base64.getEncoder().encodeToString(JsonObject.list(translation.operations())));
            }
            response.put("allowed", true);
        } catch (ClusterException e) {
            refuse(response, FAILED, e.getMessage());
        } catch (SluiceException e) {
            refuse(response, REFUSED, e.getMessage());
        }
        return JsonObject.bytes(Map.of("apiVersion", "admission.k8s.io/v1", "kind", "AdmissionReview", "response", response));
    }

    private static void refuse(Map<String, Object> response, int code, String reason) {
        response.put("allowed", false);
        String shown = reason.substring(0, Math.min(reason.length(), SHOWN)).replaceAll("[^ -~]", "?");
        response.put("status", Map.of("code", code, "message", "Sluice cannot translate this pod: " + shown));
    }

    /// A dry run leaves nothing behind.
    private void make(JsonTree request, PodTranslation translation) {
        String namespace = request.at("namespace").value() instanceof String text ? text : "";
        if (!NAMESPACE.matcher(namespace).matches()) {
            throw new SluiceException("request.namespace is no name of a namespace");
        }
        if (request.at("dryRun").isTrue()) {
            return;
        }
        for (ClaimTemplate template : translation.templates()) {
            try {
                cluster.create("/apis/resource.k8s.io/v1/namespaces/" + namespace + "/resourceclaimtemplates", template.json(namespace));
            } catch (ClusterException e) {
                if (!e.isConflict()) {
                    throw e;
                }
            }
        }
    }
}
