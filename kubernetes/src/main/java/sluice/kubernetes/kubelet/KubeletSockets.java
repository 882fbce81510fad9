package sluice.kubernetes.kubelet;

import io.grpc.ManagedChannel;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusRuntimeException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.claims.NodeClaims;
import sluice.kubernetes.node.NodeGpu;
import sluice.kubernetes.wire.InfoRequest;
import sluice.kubernetes.wire.RegistrationGrpc;

/// Listens for kubelet. The socket for claims is there first: kubelet connects to it as soon as it finds the other one.
///
/// Each pod of the node program has sockets of its own, so an old one and a new one can be there at the same time. Kubelet (1.33 and newer) asks
/// the one that came last.
public final class KubeletSockets implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 5;

    private final Path endpoint;
    private final Path registry;
    private final List<ServerServiceDefinition> asked;
    private final List<ServerServiceDefinition> registering;
    private final HealthService health;
    private final List<DeadSockets> others;
    private UnixServer claims;
    private UnixServer registration;

    /// @param folder     kubelet's: `plugins` and `plugins_registry` are in it
    /// @param instance   of this pod; empty: there is only one
    /// @param pool       of the node's slice
    /// @param registered runs each time when kubelet has taken this driver
    public KubeletSockets(Path folder, String driver, String instance, String pool, NodeClaims prepared, Runnable registered, PrintStream log) {
        String end = instance.isEmpty() ? "" : "-" + instance;
        endpoint = folder.resolve("plugins").resolve(driver).resolve("dra" + end + ".sock");
        registry = folder.resolve("plugins_registry").resolve(driver + end + "-reg.sock");
        ServerServiceDefinition service = new ClaimService(prepared, log).bindService();
        health = new HealthService(pool);
        asked = List.of(service, OtherVersion.of(service, ClaimService.BETA), health.bindService(), OtherVersion.of(health.bindService(), HealthService.ALPHA));
        registering = List.of(new RegistrationService(driver, endpoint, registered, log).bindService());
        others = List.of(DeadSockets.of(endpoint, "dra-", ".sock"), DeadSockets.of(registry, driver + "-", "-reg.sock"));
        open();
    }

    private void open() {
        claims = new UnixServer(endpoint, asked);
        try {
            registration = new UnixServer(registry, registering);
        } catch (RuntimeException e) {
            claims.close();
            throw e;
        }
    }

    /// Whether this program answers as kubelet asks it, and within some seconds.
    public boolean answer() {
        UnixClient client = new UnixClient();
        ManagedChannel channel = client.channel(registry);
        try {
            return RegistrationGrpc.newBlockingStub(channel).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS).getInfo(InfoRequest.getDefaultInstance()).getEndpoint().equals(endpoint.toString());
        } catch (StatusRuntimeException e) {
            return false;
        } finally {
            channel.shutdownNow();
            client.close();
        }
    }

    /// How the GPUs are.
    public void tell(List<NodeGpu> gpus) {
        health.tell(gpus);
    }

    /// Makes the sockets again if somebody removed them: kubelet's folders are wiped when a node joins its cluster anew. Removes those that
    /// pods left which were killed.
    public synchronized void keep() {
        others.forEach(DeadSockets::remove);
        if (!claims.isThere() || !registration.isThere()) {
            close();
            open();
        }
    }

    @Override
    public synchronized void close() {
        registration.close();
        health.end();
        claims.close();
    }
}
