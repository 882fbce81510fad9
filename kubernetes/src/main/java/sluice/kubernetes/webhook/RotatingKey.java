package sluice.kubernetes.webhook;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import sluice.region.place.SluiceException;

/// The key of new connections, which can change while the server runs. A handshake that has begun keeps the key that it chose.
final class RotatingKey extends X509ExtendedKeyManager {
    private final Map<String, ServingKey> keys = new ConcurrentHashMap<>();
    private volatile String current = "";

    void use(ServingKey key) {
        String before = current;
        String alias = key.certificate().getSerialNumber().toString(16);
        keys.put(alias, key);
        current = alias;
        keys.keySet().removeIf(old -> !old.equals(alias) && !old.equals(before));
    }

    SSLContext context() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {this}, null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new SluiceException("Java has no TLS here", e);
        }
    }

    private String alias(String type) {
        return "EC".equals(type) && !current.isEmpty() ? current : null;
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
        return alias(type);
    }

    @Override
    public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
        return alias(type);
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        ServingKey key = keys.get(alias);
        return key == null ? null : new X509Certificate[] {key.certificate()};
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        ServingKey key = keys.get(alias);
        return key == null ? null : key.key();
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
        String alias = alias(type);
        return alias == null ? null : new String[] {alias};
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
        return null;
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
        return null;
    }
}
