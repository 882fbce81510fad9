package sluice.kubernetes.webhook;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import sluice.region.place.SluiceException;

/// A private key with a certificate that it signed itself. Java has no interface to make a certificate; its own program `keytool` does, and is
/// in each Java runtime. The key is on disk for that moment only.
record ServingKey(PrivateKey key, X509Certificate certificate) {
    private static final String ALIAS = "webhook";
    private static final String PASSWORD = "SLUICE_STORE_PASSWORD";
    private static final int PASSWORD_BYTES = 24;
    private static final int PATIENCE_SECONDS = 60;
    private static final int SHOWN = 300;
    private static final int LINE = 64;

    /// @param host of the server, as the API server names it
    static ServingKey make(String host, int days) {
        Path folder = null;
        try {
            folder = Files.createTempDirectory("sluice-key-");
            Path store = folder.resolve("store.p12");
            String password = password();
            run(folder, password, List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-J-Xmx32m", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1",
                    "-genkeypair", "-alias", ALIAS, "-keyalg", "EC", "-groupname", "secp256r1", "-sigalg", "SHA256withECDSA", "-startdate", "-1H", "-validity", Integer.toString(days),
                    "-dname", "CN=sluice-webhook", "-ext", "SAN=dns:" + host, "-ext", "KU=digitalSignature", "-ext", "EKU=serverAuth", "-keystore", store.toString(),
                    "-storetype", "PKCS12", "-storepass:env", PASSWORD));
            return read(store, password.toCharArray());
        } catch (IOException | GeneralSecurityException e) {
            throw new SluiceException("cannot make a certificate (" + e + ")", e);
        } finally {
            delete(folder);
        }
    }

    private static String password() {
        byte[] bytes = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private static void run(Path folder, String password, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true).redirectOutput(folder.resolve("output").toFile());
        builder.environment().put(PASSWORD, password);
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new SluiceException("keytool made no certificate within " + PATIENCE_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SluiceException("interrupted while keytool made a certificate", e);
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            String output = Files.readString(folder.resolve("output")).strip();
            throw new SluiceException("keytool made no certificate: " + output.substring(0, Math.min(output.length(), SHOWN)));
        }
    }

    private static ServingKey read(Path store, char[] password) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, password);
        }
        return new ServingKey((PrivateKey) keys.getKey(ALIAS, password), (X509Certificate) keys.getCertificate(ALIAS));
    }

    private static void delete(Path folder) {
        if (folder == null) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new SluiceException("cannot remove the key in " + folder + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    Instant until() {
        return certificate.getNotAfter().toInstant();
    }

    String pem() {
        return pem(certificate);
    }

    static String pem(X509Certificate certificate) {
        try {
            String body = Base64.getMimeEncoder(LINE, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(certificate.getEncoded());
            return "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n";
        } catch (GeneralSecurityException e) {
            throw new SluiceException("cannot encode a certificate", e);
        }
    }
}
