package sluice.kubernetes.kubelet;

import io.grpc.stub.StreamObserver;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import sluice.kubernetes.wire.InfoRequest;
import sluice.kubernetes.wire.PluginInfo;
import sluice.kubernetes.wire.RegistrationGrpc;
import sluice.kubernetes.wire.RegistrationStatus;
import sluice.kubernetes.wire.RegistrationStatusResponse;

/// Tells kubelet who this is, and learns whether kubelet took it.
final class RegistrationService extends RegistrationGrpc.RegistrationImplBase {
    private static final String TYPE = "DRAPlugin";
    private static final List<String> VERSIONS = List.of("v1.DRAPlugin", "v1beta1.DRAPlugin", HealthService.STABLE, HealthService.ALPHA);

    private final String driver;
    private final Path endpoint;
    private final Runnable registered;
    private final PrintStream log;

    /// @param registered runs each time when kubelet has taken this driver: also when kubelet was started again
    RegistrationService(String driver, Path endpoint, Runnable registered, PrintStream log) {
        this.driver = driver;
        this.endpoint = endpoint;
        this.registered = registered;
        this.log = log;
    }

    @Override
    public void getInfo(InfoRequest request, StreamObserver<PluginInfo> answer) {
        answer.onNext(PluginInfo.newBuilder().setType(TYPE).setName(driver).setEndpoint(endpoint.toString()).addAllSupportedVersions(VERSIONS).build());
        answer.onCompleted();
    }

    @Override
    public void notifyRegistrationStatus(RegistrationStatus status, StreamObserver<RegistrationStatusResponse> answer) {
        answer.onNext(RegistrationStatusResponse.getDefaultInstance());
        answer.onCompleted();
        if (status.getPluginRegistered()) {
            registered.run();
        } else {
            log.println("sluice-kubernetes: kubelet does not take this driver: " + status.getError());
        }
    }
}
