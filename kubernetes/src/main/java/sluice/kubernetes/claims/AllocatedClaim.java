package sluice.kubernetes.claims;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import sluice.api.json.JsonTree;
import sluice.kubernetes.cluster.Quantity;
import sluice.region.limits.GivenLimits;
import sluice.region.limits.Limit;
import sluice.region.limits.LimitSource;
import sluice.region.place.SluiceException;

/// What the scheduler gave to a claim on this node, as its ResourceClaim says.
///
/// @param limits that its parameters name
record AllocatedClaim(String uid, List<Share> shares, Map<Limit, String> limits) {
    private static final int WHOLE = 100;

    /// A part of one GPU.
    ///
    /// @param request name of the request that it is for
    /// @param id      the cluster's; empty on a cluster that gives none
    record Share(String request, String pool, String device, String id, long memoryBytes, long computePercent) {}

    static AllocatedClaim parse(JsonTree claim, String driver) {
        JsonTree devices = claim.at("status").at("allocation").at("devices");
        if (!devices.has("results")) {
            throw new SluiceException("the claim is not allocated");
        }
        List<Share> shares = new ArrayList<>();
        for (JsonTree result : devices.at("results").elements()) {
            if (driver.equals(result.at("driver").value())) {
                shares.add(share(result));
            }
        }
        if (shares.isEmpty()) {
            throw new SluiceException("nothing of the claim is allocated by " + driver);
        }
        List<Config> configs = configs(elements(devices, "config"), driver);
        Map<String, Map<Limit, String>> limits = new LinkedHashMap<>();
        shares.forEach(share -> limits.put(share.request(), limits(configs, share.request())));
        if (Set.copyOf(limits.values()).size() > 1) {
            throw new SluiceException("the claim has other parameters for each request: " + shown(limits)
                    + "; its containers share one set of limits, so give all requests the same, or make a claim for each");
        }
        return new AllocatedClaim(claim.at("metadata").at("uid").text(), List.copyOf(shares), limits.values().iterator().next());
    }

    /// Parameters of a claim or a class.
    ///
    /// @param requests the names of those that they are for; empty: all
    private record Config(List<String> requests, Map<Limit, String> limits) {
        /// A request that is an alternative has the name `REQUEST/ALTERNATIVE`.
        boolean isFor(String request) {
            return requests.isEmpty() || requests.contains(request) || requests.contains(request.replaceFirst("/.*", ""));
        }
    }

    /// In the order in which they hold: those of a claim come after those of the class.
    private static List<Config> configs(List<JsonTree> all, String driver) {
        List<Config> configs = new ArrayList<>();
        for (String source : List.of("FromClass", "FromClaim")) {
            for (JsonTree config : all) {
                if (source.equals(config.at("source").value()) && driver.equals(config.at("opaque").at("driver").value())) {
                    configs.add(new Config(elements(config, "requests").stream().map(JsonTree::text).toList(), ClaimParameters.parse(config.at("opaque").at("parameters")).limits()));
                }
            }
        }
        return configs;
    }

    private static Map<Limit, String> limits(List<Config> configs, String request) {
        Map<Limit, String> limits = new EnumMap<>(Limit.class);
        configs.stream().filter(config -> config.isFor(request)).forEach(config -> limits.putAll(config.limits()));
        return limits;
    }

    private static String shown(Map<String, Map<Limit, String>> limits) {
        return limits.entrySet().stream().map(request -> request.getKey() + " has "
                + (request.getValue().isEmpty() ? "none" : request.getValue().entrySet().stream().map(limit -> limit.getKey().word() + " " + limit.getValue()).collect(Collectors.joining(", "))))
                .collect(Collectors.joining("; "));
    }

    private static List<JsonTree> elements(JsonTree json, String name) {
        return json.has(name) ? json.at(name).elements() : List.of();
    }

    private static Share share(JsonTree result) {
        JsonTree consumed = result.at("consumedCapacity");
        if (!consumed.has("memory")) {
            throw new SluiceException("the allocation says no consumedCapacity.memory; the cluster needs the feature DRAConsumableCapacity (on by default from 1.36)");
        }
        long compute = consumed.has("compute") ? Quantity.parse("consumedCapacity.compute", consumed.at("compute").text()) : 0;
        return new Share(result.at("request").text(), result.at("pool").text(), result.at("device").text(), result.has("shareID") ? result.at("shareID").text() : "",
                Quantity.parse("consumedCapacity.memory", consumed.at("memory").text()), compute);
    }

    /// All limits of the tenant that the claim is. The library numbers the GPUs that a container sees, so a limit must be the same on each.
    Map<Limit, String> tenantLimits() {
        Map<String, Long> memory = new LinkedHashMap<>();
        Map<String, Long> compute = new LinkedHashMap<>();
        for (Share share : shares) {
            memory.merge(share.device(), share.memoryBytes(), Math::addExact);
            compute.merge(share.device(), share.computePercent(), Math::addExact);
        }
        Map<Limit, String> all = new EnumMap<>(Limit.class);
        all.put(Limit.WEIGHT, "1");
        all.putAll(limits);
        all.put(Limit.MEMORY, same(memory, "memory") + "b");
        long percent = same(compute, "compute");
        if (percent > 0 && percent < WHOLE) {
            all.put(Limit.COMPUTE, percent + "%");
        }
        if (GivenLimits.of(LimitSource.CLAIM, all).mistake().isPresent()) {
            throw new SluiceException("parameters.strict holds a cap, and the claim has none; ask for a part of 'compute' below 100");
        }
        return all;
    }

    private static long same(Map<String, Long> byDevice, String name) {
        List<Long> amounts = byDevice.values().stream().distinct().toList();
        if (amounts.size() > 1) {
            throw new SluiceException("the claim has other amounts of " + name + " on each GPU: " + byDevice + "; ask for the same on each, or make a claim for each GPU");
        }
        return amounts.getFirst();
    }
}
