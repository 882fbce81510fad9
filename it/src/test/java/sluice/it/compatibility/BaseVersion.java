package sluice.it.compatibility;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/// The version of Sluice that `spec/compatible.txt` names, built from its commit: its library, and the modules `linux` and `region`. These
/// read and write regions and boards, and need nothing but the JDK.
///
/// It is built once and kept in `it/target`. The library is built without its tests and sanitizers.
final class BaseVersion {
    private static final Path ROOT = Path.of(System.getProperty("sluice.root", "..")).toAbsolutePath().normalize();
    private static final List<String> PARTS = List.of("pom.xml", "spec", "codegen/src/main", "native", "linux/src/main", "region/src/main");
    private static final String JDK = System.getProperty("java.home") + "/bin/";

    private final Path folder;

    private BaseVersion(Path folder) {
        this.folder = folder;
    }

    /// Skips the test where the commit is not to be had, such as in a shallow clone or a source archive.
    static BaseVersion build() throws Exception {
        String commit = Files.readAllLines(ROOT.resolve("spec/compatible.txt")).stream()
                .filter(line -> line.startsWith("commit ")).findFirst().orElseThrow().substring("commit ".length()).strip();
        Assumptions.assumeTrue(has(commit), "commit " + commit + " of spec/compatible.txt is not in this checkout; fetch it: git fetch --unshallow");
        BaseVersion base = new BaseVersion(ROOT.resolve("it/target/base").resolve(commit));
        if (Files.notExists(base.folder.resolve("built"))) {
            base.make(commit);
        }
        return base;
    }

    private static boolean has(String commit) throws Exception {
        try {
            return new ProcessBuilder("git", "-C", ROOT.toString(), "cat-file", "-e", commit + "^{commit}").redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private void make(String commit) throws Exception {
        Files.createDirectories(folder);
        run("sh", "-c", "git -C '%s' archive %s %s | tar -x".formatted(ROOT, commit, String.join(" ", PARTS)));
        javac("codegen/target/classes", List.of(), "codegen/src/main");
        run(JDK + "java", "-cp", "codegen/target/classes", "-Dsluice.version=base", "sluice.codegen.Main", "generate", "--spec", "spec", "--out", "codegen/target/generated");
        javac("classes/linux", List.of(), "linux/src/main");
        javac("classes/region", List.of("-p", "classes/linux"), "region/src/main", "codegen/target/generated/java");
        run("cmake", "-S", "native", "-B", "build", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "--log-level=WARNING");
        run("cmake", "--build", "build", "--target", "sluice", "--parallel", Integer.toString(Runtime.getRuntime().availableProcessors()));
        Files.createFile(folder.resolve("built"));
    }

    private void javac(String to, List<String> options, String... sources) throws Exception {
        var command = new ArrayList<>(List.of(JDK + "javac", "-nowarn", "-d", to));
        command.addAll(options);
        for (String source : sources) {
            try (Stream<Path> files = Files.walk(folder.resolve(source))) {
                files.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(command::add);
            }
        }
        run(command.toArray(String[]::new));
    }

    private void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        if (process.waitFor() != 0) {
            throw new AssertionError("cannot build the base version: " + String.join(" ", List.of(command).subList(0, Math.min(6, command.length))) + "\n" + output);
        }
    }

    Path library() {
        return folder.resolve("build/libsluice.so");
    }

    /// A program on its tools: what it was compiled against and runs with is of the base version.
    List<String> program(Path source, String... arguments) {
        var command = new ArrayList<>(List.of(JDK + "java", "-p", folder.resolve("classes/linux") + ":" + folder.resolve("classes/region"),
                "--add-modules", "sluice.region", "--enable-native-access=sluice.linux,sluice.region", source.toString()));
        command.addAll(List.of(arguments));
        return command;
    }
}
