package sluice.codegen.layout;

import sluice.codegen.text.JavaNames;

/// The accessors of one field in a view. Unsigned 32-bit numbers are a `long` in Java and 16-bit ones an `int`, so that none is read as negative.
final class FieldSource {
    private FieldSource() {}

    static String emit(LayoutSpec.Field field) {
        var body = switch (field.type()) {
            case FieldType.Scalar(var number) -> number(field, number);
            case FieldType.Array(var number, var length) -> array(field, number, length);
            case FieldType.Text _ -> TEXT;
            case FieldType.Bytes _ -> BYTES;
        };
        return later(body, field)
                .replace("@meaning@", sentence(field.meaning()))
                .replace("@name@", JavaNames.camel(field.name()))
                .replace("@Name@", JavaNames.pascal(field.name()))
                .replace("@offset@", Integer.toString(field.offset()))
                .replace("@bytes@", Integer.toString(field.type().bytes()));
    }

    /// A field that files of earlier revisions may not have is 0 there, and not written.
    private static String later(String body, LayoutSpec.Field field) {
        if (field.since() == 0) {
            return body;
        }
        var nothing = switch (field.type()) {
            case FieldType.Text _ -> " \"\"";
            case FieldType.Bytes(var bytes) -> " new byte[" + bytes + "]";
            case FieldType.Scalar _, FieldType.Array _ -> " 0";
        };
        var lacks = "    if (segment.byteSize() < " + field.end() + "L) {\n        return%s;\n    }\n";
        return body
                .replaceAll("(?m)^(public boolean .*\\{)$", "$1\n" + lacks.formatted(" false").stripTrailing())
                .replaceAll("(?m)^(public void .*\\{)$", "$1\n" + lacks.formatted("").stripTrailing())
                .replaceAll("(?m)^(public (?!boolean|void).*\\{)$", "$1\n" + lacks.formatted(nothing).stripTrailing())
                .replace("@meaning@", "@meaning@ Since revision " + field.since() + ".");
    }

    private static String sentence(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1) + ".";
    }

    private static final String NUMBER = """
            /// @meaning@
            public @type@ @name@() {
                return @read@@HANDLE@.@get@(segment, @offset@L)@end@;
            }

            public void @name@(@type@ value) {
                @HANDLE@.@set@(segment, @offset@L, @write@value);
            }
            """;

    private static final String ATOMIC = """

            public boolean compareAndSet@Name@(@type@ expected, @type@ value) {
                return @HANDLE@.compareAndSet(segment, @offset@L, @write@expected, @write@value);
            }

            /// Adds and returns what was there before.
            public @type@ add@Name@(@type@ delta) {
                return @read@@HANDLE@.getAndAdd(segment, @offset@L, @write@delta)@end@;
            }
            """;

    private static final String ARRAY = """
            /// @meaning@
            public @type@ @name@(int index) {
                Objects.checkIndex(index, @length@);
                return @read@@HANDLE@.@get@(segment, @offset@L + index * @step@L)@end@;
            }

            public void @name@(int index, @type@ value) {
                Objects.checkIndex(index, @length@);
                @HANDLE@.@set@(segment, @offset@L + index * @step@L, @write@value);
            }
            """;

    private static final String TEXT = """
            /// @meaning@
            public String @name@() {
                return RegionText.read(segment.asSlice(@offset@L, @bytes@L));
            }

            public void @name@(String text) {
                RegionText.write(segment.asSlice(@offset@L, @bytes@L), text);
            }
            """;

    private static final String BYTES = """
            /// @meaning@
            public byte[] @name@() {
                return segment.asSlice(@offset@L, @bytes@L).toArray(ValueLayout.JAVA_BYTE);
            }

            public void @name@(byte[] bytes) {
                segment.asSlice(@offset@L, @bytes@L).copyFrom(MemorySegment.ofArray(bytes));
            }
            """;

    private static String number(LayoutSpec.Field field, FieldType.Number number) {
        return typed(field.order() == Order.ATOMIC ? NUMBER + ATOMIC : NUMBER, field, number);
    }

    private static String array(LayoutSpec.Field field, FieldType.Number number, int length) {
        return typed(ARRAY, field, number)
                .replace("@length@", Integer.toString(length))
                .replace("@step@", Integer.toString(number.bytes()));
    }

    /// Which VarHandle of the view reads and writes a field; none for text and bytes.
    static String handle(FieldType type) {
        return switch (type) {
            case FieldType.Scalar(var number) -> handle(number);
            case FieldType.Array(var number, _) -> handle(number);
            case FieldType.Text _, FieldType.Bytes _ -> "";
        };
    }

    private static String handle(FieldType.Number number) {
        return switch (number.bytes()) {
            case 2 -> "SHORT";
            case 4 -> "INT";
            default -> "LONG";
        };
    }

    private static String typed(String template, LayoutSpec.Field field, FieldType.Number number) {
        var unsignedInt = number == FieldType.Number.U32;
        var unsignedShort = number == FieldType.Number.U16;
        var isInt = number.bytes() == 4;
        return template
                .replace("@type@", (isInt && !unsignedInt) || unsignedShort ? "int" : "long")
                .replace("@HANDLE@", handle(number))
                .replace("@get@", field.concurrent() ? "getAcquire" : "get")
                .replace("@set@", field.concurrent() ? "setRelease" : "set")
                .replace("@read@", unsignedShort ? "Short.toUnsignedInt((short) " : unsignedInt ? "Integer.toUnsignedLong((int) " : isInt ? "(int) " : "(long) ")
                .replace("@end@", unsignedInt || unsignedShort ? ")" : "")
                .replace("@write@", unsignedShort ? "(short) " : unsignedInt ? "(int) " : "");
    }
}
