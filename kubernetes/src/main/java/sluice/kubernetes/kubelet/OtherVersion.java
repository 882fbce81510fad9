package sluice.kubernetes.kubelet;

import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import java.util.List;

/// A service under the name of another version that has the same messages.
final class OtherVersion {
    private OtherVersion() {}

    static ServerServiceDefinition of(ServerServiceDefinition stable, String name) {
        List<ServerMethodDefinition<?, ?>> methods = stable.getMethods().stream().<ServerMethodDefinition<?, ?>>map(method -> renamed(method, name)).toList();
        ServiceDescriptor.Builder descriptor = ServiceDescriptor.newBuilder(name);
        methods.forEach(method -> descriptor.addMethod(method.getMethodDescriptor()));
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(descriptor.build());
        methods.forEach(service::addMethod);
        return service.build();
    }

    private static <Q, A> ServerMethodDefinition<Q, A> renamed(ServerMethodDefinition<Q, A> stable, String service) {
        MethodDescriptor<Q, A> method = stable.getMethodDescriptor();
        String name = MethodDescriptor.generateFullMethodName(service, method.getBareMethodName());
        return ServerMethodDefinition.create(method.toBuilder().setFullMethodName(name).setSchemaDescriptor(null).build(), stable.getServerCallHandler());
    }
}
