package sluice.trace.report.output;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// JSON as a tree of maps, lists, numbers and texts. Its text may stand in a page too: it has no `<`, `>` or `&`.
final class ReportTree {
    private final StringBuilder text = new StringBuilder();
    private final boolean indented;

    private ReportTree(boolean indented) {
        this.indented = indented;
    }

    /// An object of names and values in turns.
    static Map<String, Object> object(Object... members) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < members.length; i += 2) {
            object.put((String) members[i], members[i + 1]);
        }
        return object;
    }

    static String indented(Object tree) {
        ReportTree writer = new ReportTree(true);
        writer.value(tree, 0);
        return writer.text.append('\n').toString();
    }

    static String compact(Object tree) {
        ReportTree writer = new ReportTree(false);
        writer.value(tree, 0);
        return writer.text.toString();
    }

    private void value(Object value, int depth) {
        switch (value) {
            case null -> text.append("null");
            case Map<?, ?> object -> object(object, depth);
            case List<?> list -> list(list, depth);
            case long[] numbers -> numbers(numbers);
            case String string -> quote(string);
            default -> text.append(value);
        }
    }

    private void object(Map<?, ?> object, int depth) {
        String separator = "{";
        for (Map.Entry<?, ?> member : object.entrySet()) {
            text.append(separator);
            line(depth + 1);
            quote((String) member.getKey());
            text.append(indented ? ": " : ":");
            value(member.getValue(), depth + 1);
            separator = ",";
        }
        end(object.isEmpty(), "{", "}", depth);
    }

    private void list(List<?> list, int depth) {
        String separator = "[";
        for (Object member : list) {
            text.append(separator);
            line(depth + 1);
            value(member, depth + 1);
            separator = ",";
        }
        end(list.isEmpty(), "[", "]", depth);
    }

    private void end(boolean empty, String open, String close, int depth) {
        if (empty) {
            text.append(open);
        } else {
            line(depth);
        }
        text.append(close);
    }

    private void numbers(long[] numbers) {
        String separator = "[";
        for (long number : numbers) {
            text.append(separator).append(number);
            separator = ",";
        }
        text.append(numbers.length == 0 ? "[]" : "]");
    }

    private void line(int depth) {
        if (indented) {
            text.append('\n').repeat("  ", depth);
        }
    }

    private void quote(String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c == '<' || c == '>' || c == '&' || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x2029 || Character.isSurrogate(c)) {
                text.append("\\u").append(Character.forDigit(c >> 12, 16)).append(Character.forDigit(c >> 8 & 15, 16))
                        .append(Character.forDigit(c >> 4 & 15, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
