package sluice.agent.settings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import sluice.agent.http.HttpLimits;
import sluice.region.place.SluiceException;

/// The settings of the core. Parts have their own.
public final class CoreSettings {
    public static final Setting<Duration> LOOK_EVERY = Setting.time("look-every", "1s", Duration.ofMillis(100), Duration.ofMinutes(1),
            "how often the machine is looked at");
    static final Setting<Path> STATE = Setting.path("state-directory", "",
            "where history and token are kept; if empty $STATE_DIRECTORY, else $XDG_STATE_HOME/sluice or ~/.local/state/sluice");
    static final Setting<Path> SOCKET = Setting.path("socket", "", "the Unix socket; if empty agent.sock in the runtime directory");
    public static final Setting<Integer> PORT = Setting.numberOrOff("port", "off", 1, 65535, "answers HTTP on this port of 127.0.0.1 too");
    public static final Setting<String> PORT_READS = Setting.word("port-reads", "open", List.of("open", "token"),
            "who may look by the port: everybody on this machine, or users with the token");
    public static final Setting<List<String>> PORT_HOSTS = Setting.list("port-hosts", "", text -> text,
            "further names, with a port, by which browsers may call the port, such as localhost:9000 of a tunnel");
    public static final Setting<Boolean> ALL_USERS = Setting.yesNo("all-users", "no", "serves all users of the machine; needs root");
    public static final Setting<List<Path>> LOOK_IN = Setting.list("look-in", "/dev/shm, /tmp", Path::of,
            "where runtime directories of users are, for all-users");
    public static final Setting<List<Long>> ADMINISTRATORS = Setting.list("administrators", "", CoreSettings::user,
            "users, by name or number, who may see and change everything");
    static final Setting<Integer> CONNECTIONS = Setting.number("connections", "256", 8, 4096,
            "all together: a quarter for the agent's user and administrators, half for other users, an eighth for the port with the token and without");
    static final Setting<Integer> CONNECTIONS_PER_USER = Setting.number("connections-per-user", "64", 1, 4096,
            "at the port all with the token count as one user, and all without it as another");
    static final Setting<Integer> REQUESTS = Setting.number("requests-per-second", "100", 1, 100_000, "of one user");
    static final Setting<Duration> REQUEST_TIME = Setting.time("request-time", "10s", Duration.ofMillis(100), Duration.ofMinutes(5),
            "in which a client must send its request, the agent must answer, and the client must take the answer");
    public static final Setting<Duration> LATE_AFTER = Setting.time("late-after", "30s", Duration.ofSeconds(1), Duration.ofMinutes(10),
            "how long after its time a part of the agent may be before /healthz says so and systemd restarts the agent");

    public static final List<Setting<?>> ALL = List.of(LOOK_EVERY, STATE, SOCKET, PORT, PORT_READS, PORT_HOSTS,
            ALL_USERS, LOOK_IN, ADMINISTRATORS, CONNECTIONS, CONNECTIONS_PER_USER, REQUESTS, REQUEST_TIME, LATE_AFTER);

    private CoreSettings() {}

    /// A number, or a name that `/etc/passwd` knows.
    public static long user(String text) {
        if (!text.isEmpty() && text.length() < 10 && text.chars().allMatch(Character::isDigit)) {
            return Long.parseLong(text);
        }
        try {
            for (String line : Files.readAllLines(Path.of("/etc/passwd"))) {
                String[] fields = line.split(":");
                if (fields.length > 2 && fields[0].equals(text)) {
                    return Long.parseLong(fields[2]);
                }
            }
        } catch (IOException | NumberFormatException e) {
            // Said below.
        }
        throw new SluiceException("there is no user '" + text + "' in /etc/passwd; write a user's number");
    }

    public static HttpLimits limits(Settings settings) {
        return new HttpLimits(settings.get(REQUEST_TIME), settings.get(REQUEST_TIME), settings.get(CONNECTIONS),
                settings.get(CONNECTIONS_PER_USER), settings.get(REQUESTS), HttpLimits.DEFAULT.pendingBytes());
    }
}
