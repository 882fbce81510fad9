package sluice.cli.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import sluice.region.pause.TimeSlices;

/// Whether time slices of the GPU were checked with the machine's driver. The library checks the same before it tries.
///
/// @param checked versions of `spec/rm.api`
/// @param words   the driver's version text; empty: there is no driver
public record SliceDriver(Set<String> checked, List<String> words) {
    public static final String VARIABLE = "SLUICE_SLICES";
    private static final Path VERSION = Path.of("/proc/driver/nvidia/version");
    private static final String CHECKED = "checked ";

    public static SliceDriver ofMachine() {
        try (InputStream api = SliceDriver.class.getResourceAsStream("rm.api")) {
            return of(new String(api.readAllBytes(), StandardCharsets.UTF_8), Files.isReadable(VERSION) ? Files.readString(VERSION) : "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static SliceDriver of(String api, String version) {
        Set<String> checked = api.lines().filter(line -> line.startsWith(CHECKED)).map(line -> line.substring(CHECKED.length()).strip()).collect(Collectors.toSet());
        return new SliceDriver(checked, Arrays.stream(version.split("\\s+")).filter(word -> !word.isEmpty()).toList());
    }

    public boolean isChecked() {
        return words.stream().anyMatch(checked::contains);
    }

    /// Why the library in a program that is started with this value of the variable will not try, as part of a sentence.
    ///
    /// @param setting null where it is not set
    public Optional<String> obstacle(String setting) {
        if (TimeSlices.isOff(setting)) {
            return Optional.of("time slices are off (" + VARIABLE + ")");
        }
        return setting.equals(TimeSlices.AUTO) && !isChecked() ? Optional.of("time slices were never checked with this version of the driver") : Optional.empty();
    }

    /// The value with which the library tries.
    public String advice() {
        return VARIABLE + "=" + (isChecked() ? TimeSlices.AUTO : "1");
    }
}
