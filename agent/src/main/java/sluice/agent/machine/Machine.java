package sluice.agent.machine;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import sluice.agent.machine.MachineLook.BoardLook;
import sluice.agent.machine.MachineLook.TenantLook;
import sluice.api.model.AuditFinding;
import sluice.api.model.NodeClaim;
import sluice.region.Tenant;
import sluice.region.limits.GivenLimits;
import sluice.region.place.Processes;
import sluice.region.place.RuntimeDirectory;

/// Looks at the machine: once a second for all listeners, and for requests in between.
public final class Machine {
    private static final long APART_NANOS = 50_000_000;
    private static final int EVENTS_SHOWN = 50;

    private final Supplier<List<RuntimeDirectory>> directories;
    private final Gpus gpus;
    private final EventLog events;
    private final Earlier earlier = new Earlier();
    private final Changes changes;
    private final TenantsOfAll reader;
    private final List<Consumer<MachineLook>> listeners = new CopyOnWriteArrayList<>();
    private volatile Supplier<List<AuditFinding>> findings = List::of;
    private volatile Function<String, List<String>> health = uuid -> List.of();
    private volatile Function<Tenant, Optional<GivenLimits>> bounds = tenant -> Optional.empty();
    private volatile Function<Tenant, Optional<NodeClaim>> claims = tenant -> Optional.empty();
    private volatile Runnable soon = () -> {};
    private long begunNanos;
    private volatile MachineLook last = MachineLook.NONE;

    public Machine(Supplier<List<RuntimeDirectory>> directories, Gpus gpus, Processes processes, EventLog events) {
        this.directories = directories;
        this.gpus = gpus;
        this.events = events;
        changes = new Changes(events);
        reader = new TenantsOfAll(processes, events);
    }

    /// The last look, whenever that was.
    public MachineLook last() {
        return last;
    }

    /// A look that began after this call. All callers at the same time get the same look. Looks are a minimum time apart, so that no client
    /// keeps the agent busy by requests.
    public MachineLook fresh() {
        long asked = System.nanoTime();
        synchronized (this) {
            long early = begunNanos + APART_NANOS - System.nanoTime();
            if (begunNanos - asked < 0 && early > 0 && last.number() > 0) {
                LockSupport.parkNanos(early);
            }
            return begunNanos - asked > 0 ? last : look();
        }
    }

    /// Whether all tenants that it can see are in these folders.
    boolean looksOnlyIn(Set<String> folders) {
        return directories.get().stream().allMatch(directory -> folders.contains(directory.path().toString()));
    }

    /// How many files of tenants the last look left out, because their users have too many.
    public int leftOut() {
        return reader.leftOut();
    }

    public EventLog events() {
        return events;
    }

    /// Sets the source of the audit's findings.
    public void findings(Supplier<List<AuditFinding>> source) {
        findings = source;
    }

    /// Sets the source of faults of the GPU with a UUID.
    public void health(Function<String, List<String>> source) {
        health = source;
    }

    /// Sets the source of the limits that the user of a registered tenant may set.
    public void bounds(Function<Tenant, Optional<GivenLimits>> source) {
        bounds = source;
    }

    /// Sets the source of a tenant's claim of a cluster.
    public void claims(Function<Tenant, Optional<NodeClaim>> source) {
        claims = source;
    }

    Optional<GivenLimits> bounds(Tenant tenant) {
        return bounds.apply(tenant);
    }

    /// The folders that it reads at present.
    public List<RuntimeDirectory> directories() {
        return directories.get();
    }

    /// Sets the action that makes the clock look before its time.
    public void clock(Runnable wake) {
        soon = wake;
    }

    /// Has the clock look before its time.
    public void soon() {
        soon.run();
    }

    /// Calls the listener after every look of the clock. @return removes the listener
    public Runnable listen(Consumer<MachineLook> listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /// One tick of the clock: looks, and notifies all listeners.
    public void tick() {
        reader.readCrowds(directories.get());
        MachineLook look = look();
        listeners.forEach(listener -> listener.accept(look));
    }

    /// Looks now.
    public synchronized MachineLook look() {
        long began = System.nanoTime();
        List<RuntimeDirectory> places = directories.get();
        List<Tenant> tenants = new ArrayList<>();
        reader.read(places, tenants);
        tenants.sort(Comparator.comparingLong(Tenant::createdNanos).thenComparing(Tenant::name));
        long now = System.nanoTime();
        List<TenantLook> tenantLooks = tenants.stream().map(tenant -> earlier.rates(tenant, now).of(claims.apply(tenant))).toList();
        List<BoardLook> boards = new ArrayList<>();
        for (RuntimeDirectory place : places) {
            reader.boards(place).forEach(board -> boards.add(earlier.rates(board, place.owner(), now)));
        }
        changes.see(tenants);
        // Before findings and health, so that a listener finds this look.
        List<Event> told = events.last(EVENTS_SHOWN);
        MachineLook look = new MachineLook(last.number() + 1, Instant.now(), now, gpus.look(tenants, health), tenantLooks, boards,
                findings.get(), told);
        earlier.keep(look);
        begunNanos = began;
        last = look;
        return look;
    }
}
