package sluice.kubernetes.plugin;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import sluice.kubernetes.kubelet.UnixClient;
import sluice.kubernetes.kubelet.UnixServer;
import sluice.kubernetes.wire.plugin.RegisterRequest;
import sluice.kubernetes.wire.plugin.RegistrationGrpc;
import sluice.region.place.SluiceException;

/// The socket of each resource, and their registration at kubelet. A kubelet that starts removes all sockets of the folder and makes its own
/// anew, so both are looked at again and again.
final class PluginSockets implements AutoCloseable {
    private static final String VERSION = "v1beta1";
    private static final int PATIENCE_SECONDS = 10;

    private final Path folder;
    private final List<PluginService> services;
    private final UnixClient client = new UnixClient();
    private final List<UnixServer> servers = new ArrayList<>();
    private Map<String, Object> registeredAt = Map.of();

    PluginSockets(Path folder, List<PluginService> services) {
        this.folder = folder;
        this.services = services;
    }

    /// @return whether kubelet is another than before
    synchronized boolean keep() {
        Map<String, Object> kubelet = identity();
        boolean listening = !servers.isEmpty() && services.stream().allMatch(service -> Files.exists(socket(service)));
        if (kubelet.isEmpty() || listening && kubelet.equals(registeredAt)) {
            return false;
        }
        if (!listening) {
            closeServers();
            for (PluginService service : services) {
                servers.add(new UnixServer(socket(service), List.of(service.bindService())));
            }
        }
        services.forEach(this::register);
        registeredAt = kubelet;
        return true;
    }

    private Path socket(PluginService service) {
        return folder.resolve(service.resource().socket());
    }

    private Path kubelet() {
        return folder.resolve("kubelet.sock");
    }

    /// Of kubelet's socket; empty if there is none. A number of an inode may be used again, so the time is part of it.
    private Map<String, Object> identity() {
        try {
            return Files.readAttributes(kubelet(), "unix:dev,ino,ctime", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return Map.of();
        }
    }

    private void register(PluginService service) {
        ManagedChannel channel = client.channel(kubelet());
        try {
            RegistrationGrpc.newBlockingStub(channel).withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS).register(RegisterRequest.newBuilder().setVersion(VERSION)
                    .setEndpoint(service.resource().socket()).setResourceName(service.resource().resource()).setOptions(PluginService.OPTIONS).build());
        } catch (StatusRuntimeException e) {
            Throwable cause = e.getStatus().getCause();
            String description = cause == null ? e.getStatus().getDescription() : cause.getMessage();
            String reason = description == null ? "" : ": " + description;
            throw new SluiceException("kubelet does not take " + service.resource().resource() + " (" + e.getStatus().getCode() + reason + ")", e);
        } finally {
            channel.shutdownNow();
        }
    }

    private void closeServers() {
        services.forEach(PluginService::end);
        servers.forEach(UnixServer::close);
        servers.clear();
    }

    @Override
    public synchronized void close() {
        closeServers();
        client.close();
    }
}
