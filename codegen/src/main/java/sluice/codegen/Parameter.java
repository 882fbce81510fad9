package sluice.codegen;

import java.util.List;
import java.util.stream.Collectors;

/// A named value of a C type. The type is in one form: single spaces, stars at the end without spaces between them.
record Parameter(String type, String name) {
    String declaration() {
        return type.endsWith("*") ? type + name : type + " " + name;
    }

    /// The parameter list of a C function.
    static String list(List<Parameter> parameters) {
        return parameters.isEmpty()
                ? "void"
                : parameters.stream().map(Parameter::declaration).collect(Collectors.joining(", "));
    }

    /// The types alone, for a declaration without names.
    static String types(List<Parameter> parameters) {
        return parameters.isEmpty() ? "void" : parameters.stream().map(Parameter::type).collect(Collectors.joining(", "));
    }

    /// The names alone, as the arguments of a call.
    static String names(List<Parameter> parameters) {
        return parameters.stream().map(Parameter::name).collect(Collectors.joining(", "));
    }
}
