package sluice.codegen;

import java.nio.file.Path;
import sluice.codegen.text.Problems;

/// Where the tests find the project's own files.
public final class Checkout {
    private Checkout() {}

    static Path root() {
        return Path.of(System.getProperty("sluice.root", "..")).toAbsolutePath().normalize();
    }

    public static Path spec() {
        return root().resolve("spec");
    }

    public static Path tinySpec() {
        return root().resolve("codegen/src/test/resources/tiny");
    }

    static Path golden() {
        return root().resolve("codegen/src/test/resources/golden");
    }

    public static Spec read(Path folder) throws Exception {
        var problems = new Problems();
        var spec = Spec.read(folder, problems);
        if (problems.any()) {
            throw new AssertionError(String.join("\n", problems.lines()));
        }
        return spec;
    }
}
