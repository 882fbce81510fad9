package sluice.agent.os;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;

/// A process that wants a region. All facts come from the kernel, none from the process.
///
/// @param cgroup    path of its cgroup, as this process sees the tree
/// @param container id that a container runtime gave it; none outside of containers
public record RegisteringPeer(long uid, Identity process, String cgroup, Optional<String> container) {
    private static final String CONTAINER_PREFIX = "c-";
    private static final int ID_LENGTH = 12;
    private static final int DIGEST_BYTES = 6;
    private static final Pattern CONTAINER_NAME = Pattern.compile(CONTAINER_PREFIX + ".{1," + ID_LENGTH + "}-[0-9a-f]{" + 2 * DIGEST_BYTES + "}");
    private static final int MOST_ANCESTORS = 256;

    public static RegisteringPeer of(long uid, long pid) {
        Identity process = Identity.of(pid).orElseThrow(() -> new SluiceException("the process is gone, or in a pid namespace that the agent does not see"));
        String cgroup = cgroup(pid);
        return new RegisteringPeer(uid, process, cgroup, container(cgroup));
    }

    private static String cgroup(long pid) {
        try {
            return cgroupOf(new String(Files.readAllBytes(Path.of("/proc", Long.toString(pid), "cgroup")), StandardCharsets.UTF_8));
        } catch (IOException e) {
            return "";
        }
    }

    /// From the lines `NUMBER:CONTROLLERS:PATH`. Version 2 has one without controllers. Where both are in use, the one that a
    /// container runtime named counts, and of version 1 that of the memory controller.
    public static String cgroupOf(String text) {
        String best = "";
        int bestRank = -1;
        for (String line : text.lines().toList()) {
            String[] fields = line.split(":", 3);
            if (fields.length == 3) {
                int rank = (container(fields[2]).isPresent() ? 4 : 0)
                        + (List.of(fields[1].split(",")).contains("memory") ? 2 : fields[1].isEmpty() ? 1 : 0);
                if (rank > bestRank) {
                    best = fields[2];
                    bestRank = rank;
                }
            }
        }
        return best;
    }

    public static Optional<String> container(String cgroup) {
        return Optional.of(ContainerId.parse("0::" + cgroup)).filter(id -> !id.isEmpty());
    }

    /// The name of the tenant for this container. A user may be allowed to make cgroups and name them like a container of another user, but
    /// not in the same place. So the place is part of the name.
    public Optional<String> containerName() {
        return container.map(id -> {
            int end = cgroup.indexOf('/', cgroup.lastIndexOf(id));
            return CONTAINER_PREFIX + id.substring(0, Math.min(ID_LENGTH, id.length())) + "-" + digest(end < 0 ? cgroup : cgroup.substring(0, end));
        });
    }

    /// Whether a name has the form of [#containerName()]. A program `c` or a rule of the policy may give a tenant another name that begins so.
    public static boolean isContainerName(String name) {
        return CONTAINER_NAME.matcher(name).matches();
    }

    /// Whether any process is in the container with this name.
    public static boolean anyIn(String containerName) {
        return ProcessHandle.allProcesses().anyMatch(process -> containerNameOf(process.pid()).equals(Optional.of(containerName)));
    }

    static Optional<String> containerNameOf(long pid) {
        String cgroup = cgroup(pid);
        return new RegisteringPeer(0, new Identity(pid), cgroup, container(cgroup)).containerName();
    }

    private static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /// The process and its ancestors, nearest first.
    public List<Identity> lineage() {
        List<Identity> lineage = new ArrayList<>(List.of(process));
        Optional<ProcessHandle> parent = ProcessHandle.of(process.pid()).flatMap(ProcessHandle::parent);
        while (parent.isPresent() && lineage.size() < MOST_ANCESTORS) {
            Identity.of(parent.get().pid()).ifPresent(lineage::add);
            parent = parent.get().parent();
        }
        return lineage;
    }

    /// The first process of the job: the topmost ancestor that was started with an agent's name in its environment, without a gap. A
    /// launcher that uses no GPU does not register, but the processes that it starts are one job.
    public Identity origin() {
        Identity origin = process;
        for (Identity ancestor : lineage()) {
            if (!ancestor.equals(process) && !namesAnAgent(ancestor.pid())) {
                break;
            }
            origin = ancestor;
        }
        return origin;
    }

    private static boolean namesAnAgent(long pid) {
        try {
            String environment = "\0" + new String(Files.readAllBytes(Path.of("/proc", Long.toString(pid), "environ")), StandardCharsets.ISO_8859_1);
            return environment.contains("\0SLUICE_AGENT=");
        } catch (IOException e) {
            return false;
        }
    }

    /// Rate-limit key: the container, else the user.
    public long key() {
        return containerName().map(name -> name.hashCode() | 1L << 62).orElse(uid);
    }
}
