package sluice.agent.settings;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sluice.region.place.SluiceException;

/// The values of the config file. It has a line `name = value` for each setting; `#` begins a comment.
public final class Settings {
    private final Map<String, Setting<?>> known = new LinkedHashMap<>();
    private final Map<String, Given> given = new HashMap<>();

    /// A value and its line; line 0 is the default.
    private record Given(Object value, String text, String place) {}

    private Settings(List<Setting<?>> known) {
        known.forEach(setting -> {
            if (this.known.put(setting.name(), setting) != null) {
                throw new IllegalArgumentException("two settings are named " + setting.name());
            }
            given.put(setting.name(), new Given(setting.parser().apply(setting.standard()), setting.standard(), "default"));
        });
    }

    /// The values without a file.
    public static Settings standard(List<Setting<?>> known) {
        return new Settings(known);
    }

    /// Reads a file. Reports all errors at once.
    public static Settings read(Path file, List<Setting<?>> known) {
        Settings settings = new Settings(known);
        List<String> problems = new ArrayList<>();
        int number = 0;
        for (String line : lines(file)) {
            number++;
            String place = file + ":" + number;
            try {
                settings.line(line.strip(), place);
            } catch (SluiceException e) {
                problems.add(place + ": " + e.getMessage());
            }
        }
        if (!problems.isEmpty()) {
            throw new SluiceException(String.join("\n", problems));
        }
        return settings;
    }

    private static List<String> lines(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new SluiceException("cannot read the config file " + file + " (" + SluiceException.reason(e)
                    + "); check its name and who may read it", e);
        }
    }

    private void line(String line, String place) {
        if (line.isEmpty() || line.startsWith("#")) {
            return;
        }
        int equals = line.indexOf('=');
        if (equals < 0) {
            throw new SluiceException("'" + line + "' is no setting; write name = value");
        }
        String name = line.substring(0, equals).strip();
        String text = line.substring(equals + 1).strip();
        Setting<?> setting = known.get(name);
        if (setting == null) {
            throw new SluiceException("there is no setting '" + name + "'; 'sluice agent --check' lists them");
        }
        if (!given.get(name).place().equals("default")) {
            throw new SluiceException(name + " is set twice, first in " + given.get(name).place() + "; keep one line");
        }
        try {
            given.put(name, new Given(setting.parser().apply(text), text, place));
        } catch (SluiceException e) {
            throw new SluiceException(name + ": " + e.getMessage(), e);
        }
    }

    @SuppressWarnings("unchecked")
    public <T> T get(Setting<T> setting) {
        return (T) given.get(setting.name()).value();
    }

    /// All settings with their values, for people: `port = off    # default; ...`.
    public List<String> describe() {
        List<String> lines = new ArrayList<>();
        known.forEach((name, setting) -> lines.add("%-44s # %s; %s".formatted(
                name + " = " + given.get(name).text(), given.get(name).place(), setting.help())));
        return lines;
    }
}
