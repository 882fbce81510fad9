package sluice.trace.export;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import sluice.region.place.SluiceException;
import sluice.trace.read.TraceFolder;
import sluice.trace.read.TraceInfo;
import sluice.trace.read.TraceProgress;

/// The formats that a trace can be converted to, for viewers.
public enum TraceFormat {
    PERFETTO(".pftrace"),
    CHROME(".json");

    private static final String COMPRESSED = ".gz";
    private static final int BUFFER_BYTES = 1 << 20;

    private final String suffix;

    TraceFormat(String suffix) {
        this.suffix = suffix;
    }

    /// The format by the name of a file; empty if the name shows none.
    public static Optional<TraceFormat> of(Path file) {
        String name = file.getFileName().toString();
        String plain = name.endsWith(COMPRESSED) ? name.substring(0, name.length() - COMPRESSED.length()) : name;
        for (TraceFormat format : values()) {
            if (plain.endsWith(format.suffix)) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    /// Converts a trace. The file gets its name when it is complete; one that ends in `.gz` is compressed.
    public void write(TraceFolder folder, Path file, TraceProgress progress) {
        Path temporary = file.resolveSibling("." + file.getFileName() + ".tmp");
        try {
            try (TimelineWriter writer = writer(stream(temporary, file), folder.info())) {
                Timeline timeline = new Timeline(folder.info(), writer);
                folder.forEach(timeline::add, progress);
                timeline.finish();
            }
            Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw cannotWrite(file, e);
        } catch (UncheckedIOException e) {
            throw cannotWrite(file, e.getCause());
        } finally {
            try {
                Files.deleteIfExists(temporary);
            } catch (IOException e) {
                // The first failure is reported.
            }
        }
    }

    private static SluiceException cannotWrite(Path file, IOException e) {
        return new SluiceException("cannot write " + file + " (" + SluiceException.reason(e) + "); choose another place with -o", e);
    }

    private static OutputStream stream(Path temporary, Path file) throws IOException {
        OutputStream plain = Files.newOutputStream(temporary);
        return new BufferedOutputStream(
                file.getFileName().toString().endsWith(COMPRESSED) ? new GZIPOutputStream(plain, 1 << 16) : plain, BUFFER_BYTES);
    }

    private TimelineWriter writer(OutputStream out, TraceInfo info) throws IOException {
        return switch (this) {
            case PERFETTO -> new PerfettoWriter(out, info.anchor());
            case CHROME -> new ChromeWriter(out);
        };
    }
}
