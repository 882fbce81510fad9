package sluice.codegen.entries;

import java.util.Locale;
import java.util.stream.Collectors;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.api.ApiType;
import sluice.codegen.api.Parameter;

/// `cuda_abi.h`, `nvml_abi.h`: the types of an API, as much of them as the ABI needs.
public final class AbiHeader {
    private AbiHeader() {}

    public static String emit(ApiSpec api) {
        return """
                /* Generated from spec/%1$s: the types of the API, as much of them as the ABI needs. */
                #ifndef SL_%2$s_ABI_H
                #define SL_%2$s_ABI_H

                #include <stddef.h>

                %3$s

                #endif
                """.formatted(
                        api.file().fileName(),
                        api.file().library().toUpperCase(Locale.ROOT),
                        api.types().stream().map(AbiHeader::declaration).collect(Collectors.joining("\n")));
    }

    private static String declaration(ApiType type) {
        return switch (type) {
            case ApiType.Handle(var name) -> "typedef struct " + name + "_opaque *" + name + ";";
            case ApiType.Enumeration(var name) -> "typedef int " + name + ";";
            case ApiType.Opaque(var name) -> "typedef struct " + name + "_opaque " + name + ";";
            case ApiType.Scalar(var name, var cType) -> "typedef " + new Parameter(cType, name).declaration() + ";";
            case ApiType.Callback(var name, var result, var parameters) ->
                "typedef " + new Parameter(result, "(*" + name + ")").declaration() + "(" + Parameter.list(parameters) + ");";
            case ApiType.Struct(var name, var fields) -> fields.stream()
                    .map(field -> "    " + field.text() + ";\n")
                    .collect(Collectors.joining("", "typedef struct {\n", "} " + name + ";"));
        };
    }
}
