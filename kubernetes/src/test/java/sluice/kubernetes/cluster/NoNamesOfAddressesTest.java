package sluice.kubernetes.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/// Java's own sockets, with the resolver that META-INF/services names.
class NoNamesOfAddressesTest {
    /// The system has a name for this address, without any name service.
    @Test
    void shouldNotAskForTheNameOfAnAddress() throws Exception {
        assertThat(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}).getHostName()).isEqualTo("127.0.0.1");
        assertThat(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}).getCanonicalHostName()).isEqualTo("127.0.0.1");
    }

    @Test
    void shouldFindTheAddressOfAName() throws Exception {
        assertThat(InetAddress.getByName("localhost").isLoopbackAddress()).isTrue();
    }
}
