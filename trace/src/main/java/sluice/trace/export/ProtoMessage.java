package sluice.trace.export;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Writes one message of Protocol Buffers. Fields are written as they come; a message within is written for itself first.
final class ProtoMessage {
    private static final int VARINT = 0;
    private static final int BYTES = 2;
    private static final int LONGEST_VARINT = 10;

    private byte[] bytes = new byte[256];
    private int size;

    ProtoMessage clear() {
        size = 0;
        return this;
    }

    boolean isEmpty() {
        return size == 0;
    }

    ProtoMessage number(int field, long value) {
        varint((long) field << 3 | VARINT);
        varint(value);
        return this;
    }

    ProtoMessage text(int field, String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        return bytes(field, encoded, encoded.length);
    }

    ProtoMessage message(int field, ProtoMessage inner) {
        return bytes(field, inner.bytes, inner.size);
    }

    private ProtoMessage bytes(int field, byte[] from, int length) {
        varint((long) field << 3 | BYTES);
        varint(length);
        reserve(length);
        System.arraycopy(from, 0, bytes, size, length);
        size += length;
        return this;
    }

    private void varint(long value) {
        reserve(LONGEST_VARINT);
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes[size++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
    }

    private void reserve(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
        }
    }

    void writeTo(OutputStream out) throws IOException {
        out.write(bytes, 0, size);
    }
}
