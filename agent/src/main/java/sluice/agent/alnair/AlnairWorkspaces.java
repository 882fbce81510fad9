package sluice.agent.alnair;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sluice.agent.machine.EventLog;
import sluice.agent.os.ContainerProcesses;
import sluice.agent.os.PublishedFile;
import sluice.agent.os.RegisteringPeer;
import sluice.linux.FileStatus;
import sluice.linux.Folder;
import sluice.region.place.Identity;
import sluice.region.place.SluiceException;
import sluice.region.place.ThisProcess;

/// The workspaces of Alnair's containers: a folder for each ALNAIR_ID, made by the program that starts the container. The node's server
/// writes two files into it: `cgroup.procs`, the pids of the container as the machine numbers them, and `containerID`.
///
/// Containers can write their workspaces, so the agent reads nothing there and follows no link. The owner of an id follows from the kernel's
/// answers: the id belongs to the first container that sent it, as long as that container has processes.
final class AlnairWorkspaces {
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
    private static final int WRITABLE_BY_OTHERS = 022;

    private final Path root;
    private final AlnairOwners owners;
    private final EventLog events;
    private final ContainerProcesses containers = new ContainerProcesses();
    private final Map<String, Set<Identity>> registered = new HashMap<>();

    AlnairWorkspaces(Path root, AlnairOwners owners, EventLog events) {
        this.root = root;
        this.owners = owners;
        this.events = events;
    }

    /// Writes the files of an id for the process that asks.
    ///
    /// @param claimed the cgroup that the process sends. If it names no container, it is ignored: in a namespace of its own a process
    ///                sees `/`, and with cgroups of version 2 Alnair's library finds no line
    synchronized void register(RegisteringPeer peer, String claimed, String id) {
        if (!ID.matcher(id).matches()) {
            throw new SluiceException("this is no ALNAIR_ID; write letters and digits");
        }
        try (Folder place = openPlace(); Folder folder = place.folder(id)) {
            checkFolder(peer, folder.status().uid());
            Optional<String> other = RegisteringPeer.container(claimed).filter(container -> !peer.container().equals(Optional.of(container)));
            if (other.isPresent()) {
                throw new SluiceException("the process is not in the container that it names");
            }
            claim(peer, id);
            PublishedFile.write(folder, "cgroup.procs", pids(peer, id));
            if (peer.container().isPresent()) {
                PublishedFile.write(folder, "containerID", peer.container().get());
            }
        } catch (IOException e) {
            throw new SluiceException("there is no workspace of this ALNAIR_ID; the tool that starts the container must make it", e);
        }
    }

    private Folder openPlace() {
        try {
            Folder place = Folder.open(root);
            FileStatus status = place.status();
            if ((status.rights() & WRITABLE_BY_OTHERS) == 0 && (status.uid() == 0 || status.uid() == ThisProcess.current().uid())) {
                return place;
            }
            place.close();
        } catch (IOException e) {
            throw new SluiceException("the agent cannot look at the workspaces", e);
        }
        throw new SluiceException("other users can write to the folder of the workspaces; chmod it to 755");
    }

    /// A folder of a user is for processes of that user. Folders of the machine are for containers, which cannot see the folders of others.
    private static void checkFolder(RegisteringPeer peer, long owner) {
        if (peer.container().isEmpty() && peer.uid() != 0 && peer.uid() != owner) {
            throw new SluiceException("the workspace of this ALNAIR_ID is not of user " + peer.uid());
        }
    }

    private void claim(RegisteringPeer peer, String id) {
        String owner = peer.containerName().orElse("user-" + peer.uid());
        Optional<String> known = owners.of(id);
        if (known.equals(Optional.of(owner))) {
            return;
        }
        boolean inUse = known.isPresent() && (RegisteringPeer.isContainerName(known.get()) ? !containers.of(known.get()).isEmpty()
                : !registrants(id).isEmpty());
        if (inUse) {
            throw new SluiceException("this ALNAIR_ID belongs to another user");
        }
        owners.put(id, owner, each -> Files.isDirectory(root.resolve(each), LinkOption.NOFOLLOW_LINKS));
        registered.remove(id);
        registered.values().removeIf(processes -> processes.stream().noneMatch(Identity::isAlive));
        events.add("alnair", id, peer.uid(), "pid " + peer.process().pid() + " registers this ALNAIR_ID for " + owner);
    }

    private Set<Identity> registrants(String id) {
        return registered.getOrDefault(id, Set.of()).stream().filter(Identity::isAlive).collect(Collectors.toSet());
    }

    /// The list of all processes may be a moment old, so registered processes are remembered.
    private String pids(RegisteringPeer peer, String id) {
        Set<Identity> known = registered.computeIfAbsent(id, made -> new HashSet<>());
        known.removeIf(process -> !process.isAlive());
        known.add(peer.process());
        Stream<Long> inContainer = peer.containerName().stream().flatMap(name -> containers.of(name).stream());
        return Stream.concat(registrants(id).stream().map(Identity::pid), inContainer).distinct().sorted()
                .map(pid -> pid + "\n").collect(Collectors.joining());
    }
}
