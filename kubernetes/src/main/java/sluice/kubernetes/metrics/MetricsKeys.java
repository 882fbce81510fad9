package sluice.kubernetes.metrics;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import sluice.region.place.SluiceException;

/// Certificate and key in a folder, as a Secret of the type `kubernetes.io/tls` mounts them. They are read again when they change. While there is
/// no pair that can be used, each connection fails, and all else of the node program goes on.
public final class MetricsKeys {
    private final Path certificate;
    private final Path key;
    private final PrintStream log;
    private Optional<Pair> pair = Optional.empty();
    private FileTime readAt;
    private String lastProblem = "";

    private record Pair(X509Certificate[] chain, PrivateKey key) {}

    /// @param folder with `tls.crt` and `tls.key`
    public MetricsKeys(Path folder, PrintStream log) {
        certificate = folder.resolve("tls.crt");
        key = folder.resolve("tls.key");
        this.log = log;
        newest();
    }

    SSLContext context() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new Newest()}, null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private Pair read() throws IOException, GeneralSecurityException {
        FileTime now = Files.getLastModifiedTime(certificate);
        List<X509Certificate> chain = new ArrayList<>();
        try (InputStream in = Files.newInputStream(certificate)) {
            CertificateFactory.getInstance("X.509").generateCertificates(in).forEach(each -> chain.add((X509Certificate) each));
        }
        if (chain.isEmpty()) {
            throw new GeneralSecurityException("no certificate in " + certificate);
        }
        PrivateKey read = PrivateKeyFile.read(key, chain.getFirst());
        readAt = now;
        return new Pair(chain.toArray(X509Certificate[]::new), read);
    }

    /// What cannot be read while somebody replaces it leaves the old pair in place, and is tried again at the next connection.
    private synchronized Optional<Pair> newest() {
        try {
            if (!Files.getLastModifiedTime(certificate).equals(readAt)) {
                pair = Optional.of(read());
                lastProblem = "";
            }
        } catch (IOException e) {
            tell(SluiceException.reason(e));
        } catch (GeneralSecurityException e) {
            tell(e.getMessage());
        }
        return pair;
    }

    /// A problem is told once, until it is another.
    private void tell(String problem) {
        if (!problem.equals(lastProblem)) {
            lastProblem = problem;
            log.println("sluice-kubernetes: cannot use " + certificate + " and " + key + " (" + problem + "); "
                    + (pair.isEmpty() ? "the metrics port answers nobody until they can be used" : "the pair that was there before stays in use"));
        }
    }

    private boolean isOf(String type) {
        String algorithm = newest().map(Pair::key).map(PrivateKey::getAlgorithm).orElse("");
        return algorithm.equals(type) || type.equals("EdDSA") && algorithm.startsWith("Ed");
    }

    private final class Newest extends X509ExtendedKeyManager {
        private static final String ALIAS = "tls";

        @Override
        public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            return isOf(type) ? ALIAS : null;
        }

        @Override
        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return chooseEngineServerAlias(type, issuers, null);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return newest().map(each -> each.chain().clone()).orElse(null);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return newest().map(Pair::key).orElse(null);
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            return null;
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            return null;
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            return new String[] {ALIAS};
        }
    }
}
