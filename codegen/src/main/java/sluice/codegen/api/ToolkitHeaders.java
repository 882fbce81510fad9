package sluice.codegen.api;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The driver API in a CUDA toolkit's headers: function pointer types, one for each (name, version), and all declared functions. It is
/// read to compare; nothing is generated from it.
public record ToolkitHeaders(List<Function> functions, Set<String> declared) {
    /// A function pointer type `PFN_<name>_v<version>[_ptsz|_ptds]`.
    record Function(String name, int version, Optional<String> suffix, List<String> types) {}

    private static final List<String> TYPEDEFS = List.of(
            "cudaTypedefs.h", "cudaGLTypedefs.h", "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h", "cudaProfilerTypedefs.h");
    private static final Pattern TYPEDEF = Pattern.compile(
            "typedef\\s+CUresult\\s*\\(\\s*CUDAAPI\\s*\\*\\s*PFN_(\\w+?)_v(\\d+)(?:_(ptsz|ptds))?\\s*\\)\\s*\\(([^;]*)\\)\\s*;");
    private static final Pattern DECLARATION = Pattern.compile("CUresult\\s+CUDAAPI\\s+(cu\\w+)\\s*\\(");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

    public static ToolkitHeaders read(Path toolkit) throws IOException {
        var functions = new ArrayList<Function>();
        for (var header : TYPEDEFS) {
            functions(text(toolkit, header), functions);
        }
        var declared = new TreeSet<String>();
        var matcher = DECLARATION.matcher(text(toolkit, "cuda.h"));
        while (matcher.find()) {
            declared.add(matcher.group(1).replaceFirst("_(ptsz|ptds)$", ""));
        }
        return new ToolkitHeaders(List.copyOf(functions), declared);
    }

    private static String text(Path toolkit, String header) throws IOException {
        var text = Files.readString(toolkit.resolve("include").resolve(header));
        return COMMENT.matcher(text).replaceAll(" ").replace("\\\n", " ");
    }

    private static void functions(String text, List<Function> functions) {
        var matcher = TYPEDEF.matcher(text);
        while (matcher.find()) {
            functions.add(new Function(matcher.group(1), Integer.parseInt(matcher.group(2)),
                    Optional.ofNullable(matcher.group(3)), types(matcher.group(4))));
        }
    }

    private static List<String> types(String parameters) {
        var types = new ArrayList<String>();
        for (var parameter : parameters.split(",")) {
            var type = parameter.replaceAll("\\bCUDAAPI\\b", " ").replaceAll("\\w+\\s*\\[\\d*]", "*").strip();
            var unnamed = type.endsWith("*") || type.equals("void");
            types.add(TypeReader.tidy(unnamed ? type : type.replaceFirst("\\w+$", "")));
        }
        return types.equals(List.of("void")) ? List.of() : List.copyOf(types);
    }
}
