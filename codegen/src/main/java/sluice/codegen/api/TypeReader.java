package sluice.codegen.api;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Reads C types and parameters, and knows which types have been declared so far.
final class TypeReader {
    static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1;

        Unreadable(String reason) {
            super(reason);
        }
    }

    private static final Set<String> BUILT_IN = Set.of(
            "void", "char", "short", "int", "long long", "float", "double", "size_t",
            "unsigned char", "unsigned short", "unsigned int", "unsigned long long");
    private static final Pattern PARAMETER = Pattern.compile("(.*[\\s*])([A-Za-z_]\\w*)\\s*(?:\\[(\\d*)])?");

    private final Map<String, ApiType> declared = new LinkedHashMap<>();

    void declare(ApiType type) throws Unreadable {
        if (BUILT_IN.contains(type.name()) || declared.putIfAbsent(type.name(), type) != null) {
            throw new Unreadable("type '" + type.name() + "' is declared twice");
        }
    }

    List<ApiType> declared() {
        return List.copyOf(declared.values());
    }

    /// A type in one form, after checking that it is known.
    String type(String text) throws Unreadable {
        var type = tidy(text);
        var base = base(type);
        var declaration = declared.get(base);
        if (declaration == null && !BUILT_IN.contains(base)) {
            throw new Unreadable("unknown type '" + base + "'; declare it with handle, enum, opaque, scalar, callback or struct");
        }
        var byValue = !type.endsWith("*");
        if (byValue && (declaration instanceof ApiType.Opaque || base.equals("void"))) {
            throw new Unreadable("'" + base + "' cannot be passed by value");
        }
        return type;
    }

    /// A parameter list as in C, where `void` stands for none.
    List<Parameter> parameters(String text) throws Unreadable {
        var parameters = new ArrayList<Parameter>();
        var names = new HashSet<String>();
        for (var one : text.strip().equals("void") ? new String[0] : text.split(",", -1)) {
            var field = field(one);
            if (field.length() != 0) {
                throw new Unreadable("parameter '" + one.strip() + "' has a length; write it as a pointer");
            }
            if (!names.add(field.declaration().name())) {
                throw new Unreadable("parameter '" + field.declaration().name() + "' appears twice");
            }
            parameters.add(field.declaration());
        }
        return List.copyOf(parameters);
    }

    /// A type and a name, as in `char bytes[16]`; `T x[]` is `T *x`.
    ApiType.Field field(String text) throws Unreadable {
        var match = PARAMETER.matcher(text.strip());
        if (!match.matches() || BUILT_IN.contains(tidy(text))) {
            throw new Unreadable("'" + text.strip() + "' is not a type and a name");
        }
        var length = match.group(3);
        var pointer = length != null && length.isEmpty();
        var type = type(match.group(1) + (pointer ? "*" : ""));
        return new ApiType.Field(
                new Parameter(type, match.group(2)), length == null || pointer ? 0 : Integer.parseInt(length));
    }

    /// Single spaces, and no space before a star but the first: `const void **`.
    static String tidy(String type) {
        var words = type.replace("*", " * ").strip().replaceAll("\\s+", " ");
        return words.replaceAll("\\* (?=\\*)", "*");
    }

    private static String base(String type) {
        return String.join(" ", Stream.of(type.replace("*", " ").strip().split("\\s+"))
                .filter(word -> !word.equals("const"))
                .toList());
    }
}
