package sluice.codegen;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.codegen.api.ToolkitComparison;
import sluice.codegen.api.ToolkitHeaders;
import sluice.codegen.text.Problems;

/// The generator's command line. Exit statuses: 0 done, 1 an error or a difference, 2 usage.
public final class GeneratorCommand {
    private static final String USAGE = """
            usage: generate --spec DIR --out DIR      write the sources that the build needs
                   docs     --spec DIR --out DIR      write the reference pages
                   compare  --spec DIR --toolkit DIR  print what differs from a CUDA toolkit's headers""";

    private static final class Usage extends Exception {
        private static final long serialVersionUID = 1;
    }

    private GeneratorCommand() {}

    public static void main(String[] arguments) {
        System.exit(run(System.out, System.err, arguments));
    }

    static int run(PrintStream out, PrintStream err, String... arguments) {
        try {
            return command(out, err, arguments);
        } catch (Usage usage) {
            err.println(USAGE);
            return 2;
        } catch (NoSuchFileException missing) {
            err.println(missing.getFile() + ": not found");
            return 1;
        } catch (IOException failed) {
            err.println("cannot read or write: " + failed.getMessage());
            return 1;
        }
    }

    private static int command(PrintStream out, PrintStream err, String... arguments) throws IOException, Usage {
        var command = arguments.length == 0 ? "" : arguments[0];
        var other = switch (command) {
            case "generate", "docs" -> "--out";
            case "compare" -> "--toolkit";
            default -> throw new Usage();
        };
        var options = options(List.of(arguments).subList(1, arguments.length), List.of("--spec", other));
        var problems = new Problems();
        var spec = Spec.read(options.get("--spec"), problems);
        if (problems.any()) {
            problems.lines().forEach(err::println);
            return 1;
        }
        if (command.equals("compare")) {
            var differences = ToolkitComparison.of(spec.cuda(), ToolkitHeaders.read(options.get(other)));
            differences.forEach(out::println);
            return differences.isEmpty() ? 0 : 1;
        }
        for (var output : command.equals("docs") ? Generator.pages(spec) : Generator.sources(spec)) {
            output.write(options.get(other));
        }
        return 0;
    }

    private static Map<String, Path> options(List<String> arguments, List<String> names) throws Usage {
        var options = new HashMap<String, Path>();
        for (int i = 0; i + 1 < arguments.size(); i += 2) {
            options.put(arguments.get(i), Path.of(arguments.get(i + 1)));
        }
        if (arguments.size() != 2 * names.size() || !options.keySet().containsAll(names)) {
            throw new Usage();
        }
        return options;
    }
}
