package sluice.region.place;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;

/// Where the parts of an installed Sluice lie: paths only, and a link where the dynamic linker cannot read a path.
public record Installation(Path home) {
    /// The dynamic linker splits its lists at the first three characters, and expands names after the last one. It has no quotes.
    private static final String UNREADABLE = " :;$";

    /// The installation that this process runs from; the launcher says which in the system property `sluice.home`.
    public static Installation find() {
        String home = System.getProperty("sluice.home");
        if (home == null) {
            throw new SluiceException("the system property sluice.home is not set; start Sluice by its launcher bin/sluice");
        }
        return new Installation(Path.of(home));
    }

    /// The same installation under a path that `LD_PRELOAD` and `LD_LIBRARY_PATH` can hold: its own, or a link in the runtime directory.
    /// The link stays, because programs under the library start other programs.
    public Installation loadable() {
        return isReadable(home) ? this : loadable(System.getenv());
    }

    Installation loadable(Map<String, String> environment) {
        if (isReadable(home)) {
            return this;
        }
        RuntimeDirectory directory = RuntimeDirectory.find(environment);
        if (!isReadable(directory.path())) {
            directory = RuntimeDirectory.find(Map.of());
        }
        return new Installation(link(directory));
    }

    private static boolean isReadable(Path path) {
        return path.toString().chars().noneMatch(letter -> UNREADABLE.indexOf(letter) >= 0);
    }

    /// One name for each home, so that a link is never changed.
    private Path link(RuntimeDirectory directory) {
        Path target = home.toAbsolutePath();
        Path link = directory.path().resolve("home-" + UUID.nameUUIDFromBytes(target.toString().getBytes(StandardCharsets.UTF_8)));
        try {
            Files.createSymbolicLink(link, target);
        } catch (FileAlreadyExistsException _) {
            return link;
        } catch (IOException e) {
            throw new SluiceException("the path " + home + " holds a letter that LD_PRELOAD cannot express, and no link to it can be made in "
                    + directory.path() + " (" + SluiceException.reason(e) + "); move Sluice to another folder");
        }
        return link;
    }

    /// The library that goes into a program.
    public Path library() {
        return home.resolve("lib/libsluice.so");
    }

    /// The library; throws if it does not exist.
    public Path presentLibrary() {
        return present(library());
    }

    /// The folder of the simulated GPU's `libcuda.so.1` and `libnvidia-ml.so.1`.
    public Path simulatedDriver() {
        return home.resolve("lib/sim");
    }

    /// The folder of the simulated GPU; throws if it does not exist.
    public Path presentSimulatedDriver() {
        present(simulatedDriver().resolve("libcuda.so.1"));
        return simulatedDriver();
    }

    public Path launcher() {
        return home.resolve("bin/sluice");
    }

    private static Path present(Path file) {
        if (!Files.exists(file)) {
            throw new SluiceException(file + " is missing; build or install Sluice again");
        }
        return file;
    }
}
