package sluice.codegen;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A generated file, with a path relative to the output folder.
record Output(String path, String content) {
    /// Writes the file unless it has this content already, so that builds that look at times do nothing.
    void write(Path folder) throws IOException {
        var file = folder.resolve(path);
        if (Files.exists(file) && Files.readString(file).equals(content)) {
            return;
        }
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }
}
