package sluice.kubernetes.cluster;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolverProvider;
import java.util.stream.Stream;

/// Java finds this by its file in META-INF/services. Java's HTTPS server asks for the name of each client's address before it answers. In a
/// cluster whose name service does not answer, that takes longer than the API server waits for a webhook. Nobody here needs such names.
public final class NoNamesOfAddresses extends InetAddressResolverProvider {
    @Override
    public InetAddressResolver get(Configuration configuration) {
        InetAddressResolver usual = configuration.builtinResolver();
        return new InetAddressResolver() {
            @Override
            public Stream<InetAddress> lookupByName(String host, LookupPolicy policy) throws UnknownHostException {
                return usual.lookupByName(host, policy);
            }

            @Override
            public String lookupByAddress(byte[] address) throws UnknownHostException {
                throw new UnknownHostException("nobody asks for the names of addresses");
            }
        };
    }

    @Override
    public String name() {
        return "no names of addresses";
    }
}
