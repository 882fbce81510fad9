package sluice.codegen.api;

import java.util.List;
import java.util.stream.Collectors;

/// A named value of a C type. The type is in one form: single spaces, stars at the end without spaces between them.
public record Parameter(String type, String name) {
    public String declaration() {
        return type.endsWith("*") ? type + name : type + " " + name;
    }

    /// The parameter list of a C function.
    public static String list(List<Parameter> parameters) {
        return parameters.isEmpty()
                ? "void"
                : parameters.stream().map(Parameter::declaration).collect(Collectors.joining(", "));
    }

    /// The types alone, for a declaration without names.
    public static String types(List<Parameter> parameters) {
        return parameters.isEmpty() ? "void" : parameters.stream().map(Parameter::type).collect(Collectors.joining(", "));
    }

    /// The names alone, as the arguments of a call.
    public static String names(List<Parameter> parameters) {
        return parameters.stream().map(Parameter::name).collect(Collectors.joining(", "));
    }
}
