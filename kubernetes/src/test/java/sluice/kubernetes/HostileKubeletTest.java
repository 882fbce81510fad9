package sluice.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sluice.fault.Fault;
import sluice.kubernetes.wire.Claim;
import sluice.kubernetes.wire.NodePrepareResourcesRequest;
import sluice.kubernetes.wire.NodePrepareResourcesResponse;
import sluice.kubernetes.wire.NodeUnprepareResourcesRequest;

/// A kubelet that is slow, broken or asks for too much. The next well-behaved one is served.
class HostileKubeletTest extends OnNode {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(Path.of(kubelet.info.getEndpoint())));
    }

    private void assertServed() {
        allocate();
        assertThat(kubelet.prepare(CLAIM).getError()).isEmpty();
        assertThat(kubelet.unprepare(CLAIM)).isEmpty();
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "messages of kubelet: halves, noise, and silence")
    @Test
    void shouldSurviveHalfMessages() throws Exception {
        Random random = new Random(21);
        List<SocketChannel> open = new ArrayList<>();
        for (int number = 0; number < 100; number++) {
            SocketChannel channel = connect();
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            channel.write(ByteBuffer.wrap(PREFACE, 0, random.nextInt(PREFACE.length + 1)));
            if (number % 3 == 0) {
                channel.write(ByteBuffer.wrap(noise));
            }
            if (number % 2 == 0) {
                channel.close();
            } else {
                open.add(channel); // silent
            }
        }
        assertServed();
        for (SocketChannel channel : open) {
            channel.close();
        }
    }

    @Fault(kind = Fault.Kind.EXHAUST, of = "claims in one request")
    @Test
    void shouldAnswerForTenThousandClaims() throws Exception {
        NodePrepareResourcesRequest.Builder request = NodePrepareResourcesRequest.newBuilder();
        for (int number = 0; number < 10_000; number++) {
            request.addClaims(FakeKubelet.claim("team", "claim", "no id " + number)); // refused without asking anybody
        }

        NodePrepareResourcesResponse answer = kubelet.stub().nodePrepareResources(request.build());

        assertThat(answer.getClaimsCount()).isEqualTo(10_000);
        assertThat(answer.getClaimsMap().values()).allSatisfy(one -> assertThat(one.getError()).isNotEmpty());
        assertThat(written()).isEmpty();
        assertServed();
    }

    @Fault(kind = Fault.Kind.DAMAGE, of = "ids: one twice in a request, and none at all")
    @Test
    void shouldAnswerOnceForAnIdThatComesTwice() {
        allocate();

        NodePrepareResourcesResponse answer = kubelet.stub().nodePrepareResources(NodePrepareResourcesRequest.newBuilder()
                .addClaims(CLAIM).addClaims(CLAIM).addClaims(Claim.getDefaultInstance()).build());

        assertThat(answer.getClaimsCount()).isEqualTo(2);
        assertThat(answer.getClaimsOrThrow(UID).getError()).isEmpty();
        assertThat(answer.getClaimsOrThrow("").getError()).contains("no id");
        assertThat(agent.claims).hasSize(1);
        assertThat(kubelet.stub().nodeUnprepareResources(NodeUnprepareResourcesRequest.newBuilder().addClaims(CLAIM).addClaims(CLAIM).build()).getClaimsOrThrow(UID).getError()).isEmpty();
    }

    @Fault(kind = Fault.Kind.EXHAUST, of = "texts of kubelet and of the API server")
    @Test
    void shouldSurviveHugeTexts() {
        String huge = "x".repeat(900_000);
        assertThat(kubelet.prepare(FakeKubelet.claim("team", huge, UID)).getError()).contains("no name").hasSizeLessThan(2000);
        assertThat(kubelet.prepare(FakeKubelet.claim("team", "train", huge)).getError()).contains("no id").hasSizeLessThan(2000);
        allocate(CLAIM, PARAMETERS.formatted(",\"" + "x".repeat(40_000) + "\":1"), result("gpu-0000", "1Gi", "1"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("parameters.").hasSizeLessThan(2000);
        allocate(CLAIM, PARAMETERS.formatted(",\"priority\":\"" + huge + "\""), result("gpu-0000", "1Gi", "1"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("parameters.priority").hasSizeLessThan(2000);
        allocate(CLAIM, "", result("gpu-0000", "9".repeat(900_000), "1"));
        assertThat(kubelet.prepare(CLAIM).getError()).contains("memory").hasSizeLessThan(2000);
        assertThatThrownBy(() -> kubelet.prepare(FakeKubelet.claim("team", huge + huge, UID))).isInstanceOf(StatusRuntimeException.class);
        assertServed();
    }

    @Fault(kind = Fault.Kind.EXHAUST, of = "connections to the node program")
    @Test
    void shouldServeBesideAThousandConnections() throws Exception {
        List<SocketChannel> open = new ArrayList<>();
        for (int number = 0; number < 1000; number++) {
            open.add(connect());
        }
        assertServed();
        for (SocketChannel channel : open) {
            channel.close();
        }
    }
}
