package sluice.codegen;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sluice.codegen.api.ApiFile;
import sluice.codegen.api.ApiParser;
import sluice.codegen.api.ApiSpec;
import sluice.codegen.layout.LayoutFile;
import sluice.codegen.layout.LayoutParser;
import sluice.codegen.layout.LayoutSpec;
import sluice.codegen.text.Problems;

/// All specs together.
record Spec(ApiSpec cuda, ApiSpec nvml, LayoutSpec region, LayoutSpec board, LayoutSpec trace) {
    /// Reads a folder of specs, and adds their errors to `problems`.
    static Spec read(Path folder, Problems problems) throws IOException {
        return new Spec(
                api(ApiFile.CUDA, folder, problems),
                api(ApiFile.NVML, folder, problems),
                layout(LayoutFile.REGION, folder, problems),
                layout(LayoutFile.BOARD, folder, problems),
                layout(LayoutFile.TRACE, folder, problems));
    }

    private static ApiSpec api(ApiFile api, Path folder, Problems problems) throws IOException {
        var path = folder.resolve(api.fileName());
        return ApiParser.parse(api, path.toString(), lines(path, problems), problems);
    }

    private static LayoutSpec layout(LayoutFile file, Path folder, Problems problems) throws IOException {
        var path = folder.resolve(file.fileName());
        return LayoutParser.parse(file, path.toString(), lines(path, problems), problems);
    }

    private static List<String> lines(Path path, Problems problems) throws IOException {
        try {
            return Files.readAllLines(path);
        } catch (CharacterCodingException notText) {
            problems.report(path.toString(), 1, "the file is not UTF-8 text");
            return List.of();
        }
    }
}
