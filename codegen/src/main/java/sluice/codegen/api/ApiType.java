package sluice.codegen.api;

import java.util.List;

/// A type that a table of entry points declares, with only as much of it as the ABI needs.
public sealed interface ApiType {
    String name();

    /// A pointer to an object of the driver.
    record Handle(String name) implements ApiType {}

    /// Passed as an int.
    record Enumeration(String name) implements ApiType {}

    /// A struct that is only ever passed by pointer.
    record Opaque(String name) implements ApiType {}

    record Scalar(String name, String cType) implements ApiType {}

    record Callback(String name, String result, List<Parameter> parameters) implements ApiType {}

    record Struct(String name, List<Field> fields) implements ApiType {}

    /// A field of a struct; a length of 0 means that it is not an array.
    record Field(Parameter declaration, int length) {
        public String text() {
            return declaration.declaration() + (length == 0 ? "" : "[" + length + "]");
        }
    }
}
