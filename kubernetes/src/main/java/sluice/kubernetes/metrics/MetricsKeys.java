package sluice.kubernetes.metrics;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import sluice.region.place.SluiceException;

/// Certificate and key in a folder, as a Secret of the type `kubernetes.io/tls` mounts them. They are read again when they change.
public final class MetricsKeys {
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "Ed25519");

    private final Path certificate;
    private final Path key;
    private Pair pair;
    private FileTime readAt;

    private record Pair(X509Certificate[] chain, PrivateKey key) {}

    /// @param folder with `tls.crt` and `tls.key`
    public MetricsKeys(Path folder) {
        certificate = folder.resolve("tls.crt");
        key = folder.resolve("tls.key");
        try {
            pair = read();
        } catch (IOException | GeneralSecurityException e) {
            throw new SluiceException("cannot use " + certificate + " and " + key + " (" + e.getMessage() + "); the key must be PKCS#8, without a password", e);
        }
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
        String text = Files.readString(key).replaceAll("-----(BEGIN|END) PRIVATE KEY-----", "").replaceAll("\\s", "");
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new GeneralSecurityException("no private key in " + key, e);
        }
        readAt = now;
        return new Pair(chain.toArray(X509Certificate[]::new), key(bytes));
    }

    private static PrivateKey key(byte[] bytes) throws GeneralSecurityException {
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(bytes));
            } catch (GeneralSecurityException e) {
                // Of another kind.
            }
        }
        throw new GeneralSecurityException("the private key is none of " + ALGORITHMS);
    }

    /// What cannot be read while somebody replaces it leaves the old pair in place.
    private synchronized Pair newest() {
        try {
            if (!Files.getLastModifiedTime(certificate).equals(readAt)) {
                pair = read();
            }
        } catch (IOException | GeneralSecurityException e) {
            // Tried again at the next connection.
        }
        return pair;
    }

    private final class Newest extends X509ExtendedKeyManager {
        private static final String ALIAS = "tls";

        @Override
        public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            return newest().key().getAlgorithm().equals(type) || type.equals("EdDSA") && newest().key().getAlgorithm().startsWith("Ed") ? ALIAS : null;
        }

        @Override
        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            return chooseEngineServerAlias(type, issuers, null);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return newest().chain().clone();
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return newest().key();
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
