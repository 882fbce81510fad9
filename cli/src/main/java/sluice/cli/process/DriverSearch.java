package sluice.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/// Searches for the CUDA driver where the dynamic linker would, without loading it: loading alone would take longer than the whole start
/// of a program.
public final class DriverSearch {
    private static final String NAME = "libcuda.so.1";
    private static final String[] FOLDERS = {
        "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"
    };

    private DriverSearch() {}

    public static boolean found(Variables environment) {
        String chosen = environment.value("SLUICE_DRIVER");
        String folders = environment.value("LD_LIBRARY_PATH");
        return chosen != null && exists(chosen)
                || folders != null && inFolders(folders)
                || inSystem()
                || inCache();
    }

    private static boolean inFolders(String folders) {
        int from = 0;
        while (from <= folders.length()) {
            int colon = folders.indexOf(':', from);
            int end = colon < 0 ? folders.length() : colon;
            if (exists(folders.substring(from, end) + "/" + NAME)) {
                return true;
            }
            from = end + 1;
        }
        return false;
    }

    private static boolean inSystem() {
        for (String folder : FOLDERS) {
            if (exists(folder + "/" + NAME)) {
                return true;
            }
        }
        return false;
    }

    private static boolean exists(String file) {
        try {
            return Files.exists(Path.of(file));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    /// The linker's cache holds the names of all libraries that it knows as plain text.
    private static boolean inCache() {
        try {
            return new String(Files.readAllBytes(Path.of("/etc/ld.so.cache")), StandardCharsets.ISO_8859_1).contains("/" + NAME + "\0");
        } catch (IOException e) {
            return false;
        }
    }
}
