package sluice.cli.proof;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import sluice.region.place.SluiceException;

/// The folder that `--out` of a benchmark names.
///
/// @param path null when nobody wants files
record OutFolder(Path path) {
    /// Makes the folder, so that no time is lost for one that cannot be.
    static OutFolder make(Path path) {
        OutFolder folder = new OutFolder(path);
        folder.write(Map.of());
        return folder;
    }

    /// Writes texts by their file names, in the place of earlier ones.
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
