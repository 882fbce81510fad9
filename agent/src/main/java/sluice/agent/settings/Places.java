package sluice.agent.settings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.api.client.AgentSockets;
import sluice.region.place.RuntimeDirectory;
import sluice.region.place.SluiceException;

/// Where the files of an agent are.
public final class Places {
    private Places() {}

    /// The config file that is used if none is named: the user's, or the machine's, if it exists.
    public static Optional<Path> config(Map<String, String> environment) {
        String home = environment.getOrDefault("XDG_CONFIG_HOME", environment.getOrDefault("HOME", "/root") + "/.config");
        return List.of(Path.of(home, "sluice/agent.conf"), Path.of("/etc/sluice/agent.conf")).stream().filter(Files::exists).findFirst();
    }

    public static Path socket(Settings settings, RuntimeDirectory directory) {
        Path chosen = settings.get(CoreSettings.SOCKET);
        return !chosen.toString().isEmpty() ? chosen : settings.get(CoreSettings.ALL_USERS) ? AgentSockets.OF_ALL : directory.path().resolve(AgentSockets.NAME);
    }

    /// The folder for files that survive a restart. It is made, for its owner alone.
    public static Path state(Settings settings, Map<String, String> environment) {
        Path chosen = settings.get(CoreSettings.STATE);
        String home = environment.getOrDefault("XDG_STATE_HOME", environment.getOrDefault("HOME", "/root") + "/.local/state");
        Path state = !chosen.toString().isEmpty() ? chosen
                : environment.containsKey("STATE_DIRECTORY") ? Path.of(environment.get("STATE_DIRECTORY")) : Path.of(home, "sluice");
        return folder(state, "rwx------");
    }

    public static Path folder(Path folder, String mode) {
        try {
            if (Files.notExists(folder)) {
                Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode)));
            }
            return folder;
        } catch (IOException e) {
            throw new SluiceException("cannot make " + folder + " (" + SluiceException.reason(e) + "); choose another in the config file", e);
        }
    }
}
