package sluice.codegen;

import java.util.stream.Collectors;

/// `cuda_abi.h`: the types of the driver API, as much of them as the ABI needs.
final class AbiHeader {
    private AbiHeader() {}

    static String emit(ApiSpec cuda) {
        return """
                /* Generated from spec/cuda.api: the types of the driver API, as much of them as the ABI needs. */
                #ifndef SL_CUDA_ABI_H
                #define SL_CUDA_ABI_H

                #include <stddef.h>

                %s

                #endif
                """.formatted(cuda.types().stream().map(AbiHeader::declaration).collect(Collectors.joining("\n")));
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
