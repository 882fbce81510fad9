package sluice.kubernetes.kubelet;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import sluice.kubernetes.claims.NodeClaims;

/// Listens for kubelet. The socket for claims is there first: kubelet connects to it as soon as it finds the other one.
public final class KubeletSockets implements AutoCloseable {
    private final UnixServer claims;
    private final UnixServer registration;

    /// @param folder     kubelet's: `plugins` and `plugins_registry` are in it
    /// @param registered runs each time when kubelet has taken this driver
    public KubeletSockets(Path folder, String driver, NodeClaims prepared, Runnable registered, PrintStream log) {
        Path endpoint = folder.resolve("plugins").resolve(driver).resolve("dra.sock");
        ClaimService service = new ClaimService(prepared, log);
        claims = new UnixServer(endpoint, List.of(service.bindService(), service.beta()));
        try {
            registration = new UnixServer(folder.resolve("plugins_registry").resolve(driver + "-reg.sock"),
                    List.of(new RegistrationService(driver, endpoint, registered, log).bindService()));
        } catch (RuntimeException e) {
            claims.close();
            throw e;
        }
    }

    @Override
    public void close() {
        registration.close();
        claims.close();
    }
}
