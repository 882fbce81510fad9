package sluice.codegen.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// Parses the lines that declare types: handle, enum, opaque, scalar, callback and struct.
final class DeclarationParser {
    private static final Set<String> KEYWORDS = Set.of("handle", "enum", "opaque", "scalar", "callback", "struct");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_]\\w*");
    private static final Pattern SCALAR = Pattern.compile("(\\w+)\\s*=\\s*(.+)");
    private static final Pattern CALLBACK = Pattern.compile("(\\w+)\\s*=\\s*([^(]+)\\((.*)\\)");
    private static final Pattern STRUCT = Pattern.compile("(\\w+)\\s*\\{(.*)}");

    private final TypeReader types;

    DeclarationParser(TypeReader types) {
        this.types = types;
    }

    static String keywords() {
        return "handle, enum, opaque, scalar, callback, struct";
    }

    static boolean isKeyword(String word) {
        return KEYWORDS.contains(word);
    }

    void parse(String keyword, String rest) throws TypeReader.Unreadable {
        switch (keyword) {
            case "scalar" -> types.declare(scalar(rest));
            case "callback" -> types.declare(callback(rest));
            case "struct" -> types.declare(struct(rest));
            default -> {
                for (var name : rest.split("\\s+")) {
                    types.declare(named(keyword, name));
                }
            }
        }
    }

    private static ApiType named(String keyword, String name) throws TypeReader.Unreadable {
        if (!NAME.matcher(name).matches()) {
            throw new TypeReader.Unreadable("'" + name + "' is not a name; write: " + keyword + " NAME...");
        }
        return switch (keyword) {
            case "handle" -> new ApiType.Handle(name);
            case "enum" -> new ApiType.Enumeration(name);
            default -> new ApiType.Opaque(name);
        };
    }

    private ApiType scalar(String rest) throws TypeReader.Unreadable {
        var match = SCALAR.matcher(rest);
        if (!match.matches()) {
            throw new TypeReader.Unreadable("not a scalar; write: scalar NAME = C-TYPE");
        }
        return new ApiType.Scalar(match.group(1), types.type(match.group(2)));
    }

    private ApiType callback(String rest) throws TypeReader.Unreadable {
        var match = CALLBACK.matcher(rest);
        if (!match.matches()) {
            throw new TypeReader.Unreadable("not a callback; write: callback NAME = RETURN (PARAMETERS)");
        }
        var result = TypeReader.tidy(match.group(2));
        return new ApiType.Callback(
                match.group(1), result.equals("void") ? result : types.type(result), types.parameters(match.group(3)));
    }

    private ApiType struct(String rest) throws TypeReader.Unreadable {
        var match = STRUCT.matcher(rest);
        if (!match.matches() || !match.group(2).strip().endsWith(";")) {
            throw new TypeReader.Unreadable("not a struct; write: struct NAME { TYPE FIELD; ... }");
        }
        List<ApiType.Field> fields = new ArrayList<>();
        for (var field : match.group(2).strip().split(";")) {
            fields.add(types.field(field));
        }
        return new ApiType.Struct(match.group(1), List.copyOf(fields));
    }
}
