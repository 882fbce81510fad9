package sluice.codegen.text;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/// A generated file, with a path relative to the output folder.
public record Output(String path, String content) {
    /// Writes the file unless it has this content already, so that builds that compare times do nothing. A reader never sees half of the
    /// file.
    public void write(Path folder) throws IOException {
        var file = folder.resolve(path);
        if (Files.exists(file) && Files.readString(file).equals(content)) {
            return;
        }
        Files.createDirectories(file.getParent());
        var complete = Files.createTempFile(file.getParent(), ".", ".part");
        Files.writeString(complete, content);
        Files.setPosixFilePermissions(complete, PosixFilePermissions.fromString("rw-r--r--"));
        Files.move(complete, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
