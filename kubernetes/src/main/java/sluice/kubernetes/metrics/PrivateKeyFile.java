package sluice.kubernetes.metrics;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A private key as PEM: PKCS#8, or the older forms PKCS#1 (`RSA PRIVATE KEY`, which cert-manager writes unless told otherwise) and SEC1 (`EC PRIVATE KEY`).
final class PrivateKeyFile {
    private static final List<String> ALGORITHMS = List.of("EC", "RSA", "Ed25519");
    private static final Pattern PEM = Pattern.compile("-----BEGIN (RSA |EC |)PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END \\1PRIVATE KEY-----");
    private static final int SEQUENCE = 0x30;
    private static final int OCTETS = 0x04;
    private static final byte[] VERSION = {0x02, 0x01, 0x00};

    private PrivateKeyFile() {}

    /// @param owner certificate of the key
    static PrivateKey read(Path file, X509Certificate owner) throws IOException, GeneralSecurityException {
        Matcher found = PEM.matcher(Files.readString(file));
        if (!found.find()) {
            throw new GeneralSecurityException("no private key without a password in " + file);
        }
        byte[] key;
        try {
            key = Base64.getMimeDecoder().decode(found.group(2));
        } catch (IllegalArgumentException e) {
            throw new GeneralSecurityException("no private key in " + file, e);
        }
        return key(found.group(1).isEmpty() ? key : der(SEQUENCE, VERSION, algorithm(owner), der(OCTETS, key)));
    }

    private static PrivateKey key(byte[] pkcs8) throws GeneralSecurityException {
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
            } catch (GeneralSecurityException e) {
                // Of another kind.
            }
        }
        throw new GeneralSecurityException("the private key is none of " + ALGORITHMS);
    }

    /// PKCS#8 names algorithm and curve in the same bytes as the certificate does: the first part of its public key.
    private static byte[] algorithm(X509Certificate owner) {
        byte[] all = owner.getPublicKey().getEncoded();
        int at = 1 + lengthBytes(all, 1);
        int size = 1 + lengthBytes(all, at + 1) + length(all, at + 1);
        return Arrays.copyOfRange(all, at, at + size);
    }

    private static int lengthBytes(byte[] der, int at) {
        return der[at] >= 0 ? 1 : 1 + (der[at] & 0x7f);
    }

    private static int length(byte[] der, int at) {
        if (der[at] >= 0) {
            return der[at];
        }
        int length = 0;
        for (int each = 1; each < lengthBytes(der, at); each++) {
            length = length << Byte.SIZE | der[at + each] & 0xff;
        }
        return length;
    }

    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(tag);
        if (content.size() < 0x80) {
            all.write(content.size());
        } else { // two bytes are enough for a key
            all.writeBytes(new byte[] {(byte) 0x82, (byte) (content.size() >> Byte.SIZE), (byte) content.size()});
        }
        all.writeBytes(content.toByteArray());
        return all.toByteArray();
    }
}
