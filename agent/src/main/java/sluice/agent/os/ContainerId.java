package sluice.agent.os;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The container of a process, by the cgroup that its runtime made for it. Versions 1 and 2 of cgroups write the same line,
/// `number:controllers:path`; what runtimes put around the id (`docker-ID.scope`, `cri-containerd-ID.scope`, `libpod-ID`,
/// `kubepods/…/ID`) does not matter.
public final class ContainerId {
    /// An id of an OCI runtime, or of a task of Amazon's ECS.
    private static final Pattern ID = Pattern.compile("(?<![0-9a-f])(?:[0-9a-f]{64}(?![0-9a-f])|[0-9a-f]{32}-[0-9]{6,12}(?![0-9]))");
    /// Containers with a name and no id: those of LXC and of systemd-nspawn.
    private static final Pattern NAME = Pattern.compile("(?:/lxc/|/lxc\\.payload[./]|/machine-)([A-Za-z0-9._-]+?)(?:\\.scope)?(?:/|$)");

    private ContainerId() {}

    /// Empty: the process is in no container, has ended, or is not visible.
    public static String of(long pid) {
        try {
            return parse(Files.readString(Path.of("/proc", Long.toString(pid), "cgroup"), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return "";
        }
    }

    /// The innermost container that the lines of `/proc/PID/cgroup` name.
    static String parse(String lines) {
        for (String line : lines.lines().toList()) {
            String last = "";
            for (Matcher id = ID.matcher(line); id.find(); ) {
                last = id.group();
            }
            if (!last.isEmpty()) {
                return last;
            }
        }
        for (String line : lines.lines().toList()) {
            Matcher name = NAME.matcher(line);
            if (name.find()) {
                return name.group(1);
            }
        }
        return "";
    }
}
