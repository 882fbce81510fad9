package sluice.kubernetes.kubelet;

import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.stub.StreamObserver;
import java.io.PrintStream;
import java.util.List;
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
    private static final String BETA = "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin";

    private final NodeClaims claims;
    private final PrintStream log;

    ClaimService(NodeClaims claims, PrintStream log) {
        this.claims = claims;
        this.log = log;
    }

    /// The same in version v1beta1, for kubelets before 1.34.
    ServerServiceDefinition beta() {
        ServerServiceDefinition stable = bindService();
        List<ServerMethodDefinition<?, ?>> methods = stable.getMethods().stream().<ServerMethodDefinition<?, ?>>map(ClaimService::beta).toList();
        ServiceDescriptor.Builder descriptor = ServiceDescriptor.newBuilder(BETA);
        methods.forEach(method -> descriptor.addMethod(method.getMethodDescriptor()));
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(descriptor.build());
        methods.forEach(service::addMethod);
        return service.build();
    }

    private static <Q, A> ServerMethodDefinition<Q, A> beta(ServerMethodDefinition<Q, A> stable) {
        MethodDescriptor<Q, A> method = stable.getMethodDescriptor();
        String name = MethodDescriptor.generateFullMethodName(BETA, method.getBareMethodName());
        return ServerMethodDefinition.create(method.toBuilder().setFullMethodName(name).setSchemaDescriptor(null).build(), stable.getServerCallHandler());
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

    private String reason(String what, Claim claim, RuntimeException e) {
        String text = e instanceof SluiceException ? e.getMessage() : "the node program failed: " + e;
        log.println("sluice-kubernetes: cannot " + what + " claim " + claim.getNamespace() + "/" + claim.getName() + ": " + text);
        return text;
    }
}
