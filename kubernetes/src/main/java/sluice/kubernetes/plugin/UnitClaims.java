package sluice.kubernetes.plugin;

import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import sluice.api.model.NodeClaim;
import sluice.kubernetes.node.NodeAgent;
import sluice.kubernetes.plugin.GivenUnits.Holder;
import sluice.region.limits.Limit;
import sluice.region.place.SluiceException;

/// Declares what containers got to the agent, each as one tenant with all its limits, before the container starts; and takes it back after the container.
final class UnitClaims {
    /// How long kubelet must not name a container. A kubelet that has just started names only those that it has learned of.
    private static final Duration GONE = Duration.ofSeconds(60);
    private static final Duration KUBELET_IS_NEW = Duration.ofMinutes(5);
    /// An init container with units of its own is never named.
    private static final Duration NEVER_NAMED = Duration.ofDays(1);
    /// An init container and the container that takes over its units get them within one admission.
    private static final long SAME_ADMISSION_SECONDS = 60;

    private final UnitGiver giver;
    private final NodeAgent agent;
    private final Supplier<HeldUnits> kubelet;
    private final Consumer<GivenUnits> named;
    private final Clock clock;
    private final PrintStream log;
    private final Map<String, Long> missingSince = new HashMap<>();
    private long kubeletSince;

    /// @param kubelet asks it now
    /// @param named   is told of each container that is about to start
    UnitClaims(UnitGiver giver, NodeAgent agent, Supplier<HeldUnits> kubelet, Consumer<GivenUnits> named, Clock clock, PrintStream log) {
        this.giver = giver;
        this.agent = agent;
        this.kubelet = kubelet;
        this.named = named;
        this.clock = clock;
        this.log = log;
        kubeletSince = clock.millis();
    }

    synchronized void kubeletIsNew() {
        kubeletSince = clock.millis();
    }

    /// Before a container starts, and before it starts again. If this fails, kubelet does not start it, shows the reason and tries again.
    synchronized void start(UnitResource resource, List<String> units) {
        HeldUnits held = kubelet.get();
        Optional<HeldUnits.Container> container = held.holderOf(resource, units);
        if (!resource.isMemory()) {
            if (container.filter(found -> found.of(resource.family().memory()).isEmpty()).isPresent()) {
                throw new SluiceException(resource.resource() + " needs " + resource.family().memory().resource() + " in the same container");
            }
            return;
        }
        List<GivenUnits> given = giver.of(resource, units);
        if (given.isEmpty()) {
            throw new SluiceException("these units of " + resource.resource() + " were given by nobody; delete the pod, and its successor gets others");
        }
        for (GivenUnits each : given) {
            if (given.getFirst().seconds() - each.seconds() <= SAME_ADMISSION_SECONDS) {
                GivenUnits complete = container.map(found -> complete(each, found)).orElse(each);
                if (!complete.equals(each)) {
                    giver.keep(complete);
                }
                declare(complete);
                named.accept(complete);
            }
        }
    }

    private GivenUnits complete(GivenUnits given, HeldUnits.Container container) {
        Map<String, List<UnitId>> compute = UnitId.byGpu(UnitId.parse(container.of(given.resource().family().compute())));
        Holder holder = container.holder();
        if (!compute.isEmpty() && !List.copyOf(compute.keySet()).equals(given.gpus())) {
            log.println("sluice-kubernetes: kubelet gave " + holder.namespace() + "/" + holder.pod() + "/" + holder.container() + " memory on " + given.gpus() + " and GPU time on "
                    + compute.keySet() + "; the cap holds where its memory is");
        }
        int percent = compute.isEmpty() ? 0 : compute.values().stream().mapToInt(List::size).min().orElse(0);
        return given.with(percent).with(holder);
    }

    private void declare(GivenUnits given) {
        Map<Limit, String> limits = new EnumMap<>(Limit.class);
        limits.put(Limit.WEIGHT, "1");
        limits.put(Limit.MEMORY, given.bytes() + "b");
        if (given.percent() > 0 && given.percent() < UnitResource.WHOLE_PERCENT) {
            limits.put(Limit.COMPUTE, given.percent() + "%");
        }
        Holder holder = given.holder().orElse(new Holder("unknown", "unknown", ""));
        String end = given.id().substring(given.id().length() - 4);
        agent.declare(given.token(), new NodeClaim(given.id(), given.gpus(), limits, holder.namespace(),
                shortened(holder.pod() + "." + holder.container()) + "-" + end, holder.pod(), holder.container()));
    }

    private static String shortened(String name) {
        return name.length() <= 200 ? name : name.substring(0, 200);
    }

    /// Brings the agent to what is on disk, and disk to what kubelet tells.
    synchronized void reconcile(HeldUnits held) {
        Map<UnitResource, Set<String>> holding = new EnumMap<>(UnitResource.class);
        for (UnitResource resource : UnitResource.values()) {
            holding.put(resource, held.all(resource));
        }
        Map<String, Long> newest = newest(holding);
        Set<String> declared = new HashSet<>(agent.declared());
        Set<String> known = new HashSet<>();
        for (GivenUnits each : giver.all()) {
            boolean isHeld = each.units().stream().anyMatch(holding.get(each.resource())::contains);
            boolean isReplaced = isHeld && each.units().stream().anyMatch(unit -> newest.getOrDefault(key(each, unit), 0L) - each.seconds() > SAME_ADMISSION_SECONDS);
            if (isReplaced || !isHeld && isGone(each, held.containers().isEmpty())) {
                agent.withdraw(each.id());
                giver.forget(each);
                missingSince.remove(each.id());
            } else {
                known.add(each.id());
                if (isHeld) {
                    missingSince.remove(each.id());
                }
                if (each.holder().isPresent() && !declared.contains(each.id())) {
                    declare(each);
                }
            }
        }
        declared.stream().filter(id -> id.startsWith(UnitGiver.PREFIX) && !known.contains(id)).forEach(agent::withdraw);
    }

    /// When each unit that is held was last given. Kubelet gives a unit again only after its container.
    private Map<String, Long> newest(Map<UnitResource, Set<String>> holding) {
        Map<String, Long> newest = new HashMap<>();
        for (GivenUnits each : giver.all()) {
            each.units().stream().filter(holding.get(each.resource())::contains).forEach(unit -> newest.merge(key(each, unit), each.seconds(), Math::max));
        }
        return newest;
    }

    private static String key(GivenUnits given, String unit) {
        return given.resource() + " " + unit;
    }

    /// @param nobody whether kubelet names no container at all
    private boolean isGone(GivenUnits given, boolean nobody) {
        long now = clock.millis();
        if (given.holder().isEmpty()) {
            return now - given.seconds() * 1000 > NEVER_NAMED.toMillis();
        }
        if (nobody || now - kubeletSince < KUBELET_IS_NEW.toMillis()) {
            missingSince.remove(given.id());
            return false;
        }
        return now - missingSince.computeIfAbsent(given.id(), added -> now) >= GONE.toMillis();
    }
}
