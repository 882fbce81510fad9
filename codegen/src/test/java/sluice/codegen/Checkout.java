package sluice.codegen;

import java.nio.file.Path;

/// Where the tests find the project's own files.
final class Checkout {
    private Checkout() {}

    static Path root() {
        return Path.of(System.getProperty("sluice.root", "..")).toAbsolutePath().normalize();
    }

    static Path spec() {
        return root().resolve("spec");
    }

    static Path tinySpec() {
        return root().resolve("codegen/src/test/resources/tiny");
    }

    static Path golden() {
        return root().resolve("codegen/src/test/resources/golden");
    }

    static Spec read(Path folder) throws Exception {
        var problems = new Problems();
        var spec = Spec.read(folder, problems);
        if (problems.any()) {
            throw new AssertionError(String.join("\n", problems.lines()));
        }
        return spec;
    }
}
