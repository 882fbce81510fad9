package sluice.kubernetes.claims;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import sluice.api.json.JsonTree;
import sluice.region.limits.Limit;
import sluice.region.place.SluiceException;

/// The opaque parameters of a claim or a device class: `{"apiVersion": "sluice.dev/v1alpha1", "kind": "GpuParameters", "weight": 3}`.
///
/// @param limits those that they name
record ClaimParameters(Map<Limit, String> limits) {
    static final String VERSION = "sluice.dev/v1alpha1";
    static final String KIND = "GpuParameters";
    private static final List<Limit> KNOWN = List.of(Limit.WEIGHT, Limit.PRIORITY, Limit.EXCLUSIVE, Limit.STRICT);

    /// Fails with a sentence that names the field.
    static ClaimParameters parse(JsonTree json) {
        if (!(json.value() instanceof Map<?, ?> fields)) {
            throw new SluiceException("parameters are no object; write apiVersion: " + VERSION + ", kind: " + KIND);
        }
        require("apiVersion", fields, VERSION);
        require("kind", fields, KIND);
        Map<Limit, String> limits = new EnumMap<>(Limit.class);
        for (Map.Entry<?, ?> field : fields.entrySet()) {
            String name = field.getKey().toString();
            if (!name.equals("apiVersion") && !name.equals("kind")) {
                Limit limit = Limit.of(name).filter(KNOWN::contains)
                        .orElseThrow(() -> new SluiceException("parameters." + name + " is not known; there are " + String.join(", ", Limit.words(KNOWN))));
                limits.put(limit, checked(limit, field.getValue()));
            }
        }
        return new ClaimParameters(limits);
    }

    private static void require(String name, Map<?, ?> fields, String value) {
        if (!value.equals(fields.get(name))) {
            throw new SluiceException("parameters." + name + " is '" + fields.get(name) + "'; this version of Sluice knows " + value);
        }
    }

    private static String checked(Limit limit, Object value) {
        boolean scalar = value instanceof String || value instanceof Long || value instanceof Boolean;
        try {
            if (scalar) {
                limit.check(value.toString(), false);
                return value.toString();
            }
        } catch (SluiceException e) {
            throw new SluiceException("parameters." + limit.word() + ": " + e.getMessage(), e);
        }
        throw new SluiceException("parameters." + limit.word() + " is no value; write " + limit.parameter());
    }
}
