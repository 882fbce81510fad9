package sluice.codegen.layout;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/// The type of a shared field.
sealed interface FieldType {
    int bytes();

    int alignment();

    String word();

    enum Number {
        U16(2), U32(4), U64(8), I32(4), I64(8);

        private final int bytes;

        Number(int bytes) {
            this.bytes = bytes;
        }

        int bytes() {
            return bytes;
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        String cType() {
            return (word().startsWith("u") ? "uint" : "int") + bytes * 8 + "_t";
        }
    }

    record Scalar(Number number) implements FieldType {
        @Override
        public int bytes() {
            return number.bytes();
        }

        @Override
        public int alignment() {
            return number.bytes();
        }

        @Override
        public String word() {
            return number.word();
        }
    }

    record Array(Number number, int length) implements FieldType {
        @Override
        public int bytes() {
            return number.bytes() * length;
        }

        @Override
        public int alignment() {
            return number.bytes();
        }

        @Override
        public String word() {
            return number.word() + "[" + length + "]";
        }
    }

    /// Text in UTF-8 that ends with a NUL.
    record Text(int bytes) implements FieldType {
        @Override
        public int alignment() {
            return 1;
        }

        @Override
        public String word() {
            return "char[" + bytes + "]";
        }
    }

    record Bytes(int bytes) implements FieldType {
        @Override
        public int alignment() {
            return 1;
        }

        @Override
        public String word() {
            return "u8[" + bytes + "]";
        }
    }

    Pattern SHAPE = Pattern.compile("(\\w+)(?:\\[([1-9]\\d{0,5})])?");

    static Optional<FieldType> of(String text) {
        var match = SHAPE.matcher(text);
        if (!match.matches()) {
            return Optional.empty();
        }
        var length = match.group(2) == null ? 0 : Integer.parseInt(match.group(2));
        var base = match.group(1);
        if (length > 0 && base.equals("char")) {
            return Optional.of(new Text(length));
        }
        if (length > 0 && base.equals("u8")) {
            return Optional.of(new Bytes(length));
        }
        return Arrays.stream(Number.values())
                .filter(number -> number.word().equals(base))
                .findFirst()
                .map(number -> length == 0 ? new Scalar(number) : new Array(number, length));
    }
}
