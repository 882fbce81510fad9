package sluice.trace.export;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Reads a message of Protocol Buffers by the public description of the encoding. Shares nothing with the writer.
record ProtoReader(Map<Integer, List<Object>> fields) {
    static ProtoReader of(byte[] bytes) {
        Map<Integer, List<Object>> fields = new TreeMap<>();
        int[] at = {0};
        while (at[0] < bytes.length) {
            long key = varint(bytes, at);
            Object value = switch ((int) (key & 7)) {
                case 0 -> varint(bytes, at);
                case 1 -> fixed(bytes, at, 8);
                case 2 -> {
                    int length = Math.toIntExact(varint(bytes, at));
                    byte[] inner = java.util.Arrays.copyOfRange(bytes, at[0], at[0] + length);
                    at[0] += length;
                    yield inner;
                }
                case 5 -> fixed(bytes, at, 4);
                default -> throw new AssertionError("wire type " + (key & 7) + " at " + at[0]);
            };
            fields.computeIfAbsent((int) (key >>> 3), number -> new ArrayList<>()).add(value);
        }
        if (at[0] != bytes.length) {
            throw new AssertionError("message ends in a field");
        }
        return new ProtoReader(fields);
    }

    private static long varint(byte[] bytes, int[] at) {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            byte next = bytes[at[0]++];
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new AssertionError("a number of more than ten bytes");
    }

    private static long fixed(byte[] bytes, int[] at, int length) {
        long value = 0;
        for (int shift = 0; shift < length; shift++) {
            value |= (bytes[at[0]++] & 0xffL) << 8 * shift;
        }
        return value;
    }

    boolean has(int field) {
        return fields.containsKey(field);
    }

    long number(int field) {
        return has(field) ? (Long) fields.get(field).getLast() : 0;
    }

    String text(int field) {
        return has(field) ? new String((byte[]) fields.get(field).getLast(), StandardCharsets.UTF_8) : "";
    }

    ProtoReader message(int field) {
        return of((byte[]) fields.get(field).getLast());
    }

    List<ProtoReader> messages(int field) {
        return fields.getOrDefault(field, List.of()).stream().map(bytes -> of((byte[]) bytes)).toList();
    }
}
