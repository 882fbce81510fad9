package sluice.codegen.layout;

/// `RegionText.java`: how text lies in the region and on the board.
public final class TextSource {
    private TextSource() {}

    public static String emit() {
        return """
                package sluice.region.layout;

                import java.lang.foreign.MemorySegment;
                import java.lang.foreign.ValueLayout;
                import java.nio.charset.StandardCharsets;

                /// Text in a field of fixed size: UTF-8, ended by a NUL. What a tenant wrote there is read without trust.
                final class RegionText {
                    private RegionText() {}

                    static String read(MemorySegment field) {
                        var bytes = field.toArray(ValueLayout.JAVA_BYTE);
                        int length = 0;
                        while (length < bytes.length && bytes[length] != 0) {
                            length++;
                        }
                        return new String(bytes, 0, length, StandardCharsets.UTF_8);
                    }

                    /// Cuts the text to fit, between two characters.
                    static void write(MemorySegment field, String text) {
                        var bytes = text.getBytes(StandardCharsets.UTF_8);
                        int length = (int) Math.min(bytes.length, field.byteSize() - 1);
                        while (length < bytes.length && length > 0 && (bytes[length] & 0xc0) == 0x80) {
                            length--;
                        }
                        field.fill((byte) 0);
                        MemorySegment.copy(bytes, 0, field, ValueLayout.JAVA_BYTE, 0, length);
                    }
                }
                """;
    }
}
