package sluice.kubernetes.kubelet;

import io.grpc.stub.StreamObserver;
import java.io.PrintStream;
import sluice.kubernetes.claims.NodeClaims;
import sluice.kubernetes.wire.Claim;
import sluice.kubernetes.wire.DRAPluginGrpc;
import sluice.kubernetes.wire.Device;
import sluice.kubernetes.wire.NodePrepareResourceResponse;
import sluice.kubernetes.wire.NodePrepareResourcesRequest;
import sluice.kubernetes.wire.NodePrepareResourcesResponse;
import sluice.kubernetes.wire.NodeUnprepareResourceResponse;
import sluice.kubernetes.wire.NodeUnprepareResourcesRequest;
import sluice.kubernetes.wire.NodeUnprepareResourcesResponse;
import sluice.region.place.SluiceException;

/// What kubelet asks for claims. Each claim of a request has its own answer; kubelet shows an error as an event of the pod.
final class ClaimService extends DRAPluginGrpc.DRAPluginImplBase {
    /// For kubelets before 1.34.
    static final String BETA = "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin";

    /// Texts may have what a user wrote; an event holds a thousand characters.
    private static final int TEXT_LENGTH = 900;
    private static final int NAME_LENGTH = 100;

    private final NodeClaims claims;
    private final PrintStream log;

    ClaimService(NodeClaims claims, PrintStream log) {
        this.claims = claims;
        this.log = log;
    }

    @Override
    public void nodePrepareResources(NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> answer) {
        NodePrepareResourcesResponse.Builder all = NodePrepareResourcesResponse.newBuilder();
        for (Claim claim : request.getClaimsList()) {
            all.putClaims(claim.getUid(), prepare(claim));
        }
        answer.onNext(all.build());
        answer.onCompleted();
    }

    private NodePrepareResourceResponse prepare(Claim claim) {
        NodePrepareResourceResponse.Builder one = NodePrepareResourceResponse.newBuilder();
        try {
            for (NodeClaims.Device device : claims.prepare(claim.getNamespace(), claim.getName(), claim.getUid())) {
                one.addDevices(Device.newBuilder().addRequestNames(device.request()).setPoolName(device.pool()).setDeviceName(device.device()).addAllCdiDeviceIds(device.cdiIds()));
            }
        } catch (RuntimeException e) {
            one.setError(reason("prepare", claim, e));
        }
        return one.build();
    }

    @Override
    public void nodeUnprepareResources(NodeUnprepareResourcesRequest request, StreamObserver<NodeUnprepareResourcesResponse> answer) {
        NodeUnprepareResourcesResponse.Builder all = NodeUnprepareResourcesResponse.newBuilder();
        for (Claim claim : request.getClaimsList()) {
            NodeUnprepareResourceResponse.Builder one = NodeUnprepareResourceResponse.newBuilder();
            try {
                claims.unprepare(claim.getUid());
            } catch (RuntimeException e) {
                one.setError(reason("unprepare", claim, e));
            }
            all.putClaims(claim.getUid(), one.build());
        }
        answer.onNext(all.build());
        answer.onCompleted();
    }

    private static String shown(String name) {
        return name.length() <= NAME_LENGTH ? name : name.substring(0, NAME_LENGTH) + "…";
    }

    private String reason(String what, Claim claim, RuntimeException e) {
        String text = e instanceof SluiceException ? e.getMessage() : "the node program failed: " + e;
        text = text.length() <= TEXT_LENGTH ? text : text.substring(0, TEXT_LENGTH / 2) + "…" + text.substring(text.length() - TEXT_LENGTH / 2);
        log.println("sluice-kubernetes: cannot " + what + " claim " + shown(claim.getNamespace()) + "/" + shown(claim.getName()) + ": " + text);
        return text;
    }
}
