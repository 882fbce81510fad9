package sluice.cli.proof;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import sluice.region.place.SluiceException;

/// The folder that `--out` of a benchmark names.
///
/// @param path null: no files are wanted
record OutFolder(Path path) {
    /// Makes the folder before the benchmark, so that a bad path fails at once.
    static OutFolder make(Path path) {
        OutFolder folder = new OutFolder(path);
        folder.write(Map.of());
        return folder;
    }

    /// Writes texts by their file names, and replaces earlier files.
    void write(Map<String, String> texts) {
        if (path == null) {
            return;
        }
        try {
            Files.createDirectories(path);
            for (Map.Entry<String, String> text : texts.entrySet()) {
                Files.writeString(path.resolve(text.getKey()), text.getValue());
            }
        } catch (IOException e) {
            throw cannotWrite(e);
        }
    }

    /// A file that grows while the benchmark runs.
    Writer open(String name) throws IOException {
        return path == null ? Writer.nullWriter() : Files.newBufferedWriter(path.resolve(name));
    }

    SluiceException cannotWrite(IOException e) {
        return new SluiceException("cannot write to " + path + " (" + SluiceException.reason(e) + "); choose another --out", e);
    }
}
