package sluice.kubernetes.plugin;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sluice.kubernetes.claims.ContainerEdits;
import sluice.kubernetes.wire.plugin.CdiDevice;
import sluice.kubernetes.wire.plugin.ContainerAllocateResponse;
import sluice.kubernetes.wire.plugin.DeviceSpec;
import sluice.kubernetes.wire.plugin.Mount;

/// What a container with units gets, as kubelet takes it.
///
/// @param edits     the same as for a claim of dynamic resource allocation
/// @param alnair    the workspaces
/// @param socket    of the server with which Alnair's clients register
record UnitEdits(ContainerEdits edits, AlnairFolders alnair, Path socket) {
    private static final String ALNAIR_LIBRARY = "libcuinterpose.so";
    private static final Path ALNAIR_FOLDER = Path.of("/opt/alnair");
    private static final String ALNAIR_WORKSPACE = "/var/lib/alnair/workspace";

    /// @param minors numbers of device files, by UUID
    ContainerAllocateResponse of(GivenUnits given, Map<String, Integer> minors) {
        ContainerAllocateResponse.Builder answer = ContainerAllocateResponse.newBuilder();
        boolean isAlnair = given.resource().family() == UnitResource.Family.ALNAIR;
        Map<String, String> environment = new LinkedHashMap<>();
        for (String uuid : given.gpus()) {
            add(answer, environment, edits.of(given.token(), given.gpus(), Optional.ofNullable(minors.get(uuid))));
            edits.driver().ifPresent(kind -> answer.addCdiDevices(CdiDevice.newBuilder().setName(kind + "=" + uuid)));
        }
        if (edits.simulated().isEmpty() && (isAlnair || edits.driver().isEmpty())) {
            environment.put("NVIDIA_VISIBLE_DEVICES", String.join(",", given.gpus()));
        }
        if (isAlnair) {
            addAlnair(answer, environment, given.workspace());
        }
        return answer.putAllEnvs(environment).build();
    }

    private static void add(ContainerAllocateResponse.Builder answer, Map<String, String> environment, Map<String, Object> cdi) {
        list(cdi, "env").forEach(entry -> {
            String[] parts = entry.toString().split("=", 2);
            environment.put(parts[0], parts[1]);
        });
        for (Object each : list(cdi, "mounts")) {
            Map<?, ?> mount = (Map<?, ?>) each;
            mount(answer, mount.get("hostPath").toString(), mount.get("containerPath").toString(), ((List<?>) mount.get("options")).contains("ro"));
        }
        for (Object each : list(cdi, "deviceNodes")) {
            String path = ((Map<?, ?>) each).get("path").toString();
            DeviceSpec device = DeviceSpec.newBuilder().setHostPath(path).setContainerPath(path).setPermissions("rw").build();
            if (!answer.getDevicesList().contains(device)) {
                answer.addDevices(device);
            }
        }
    }

    private static List<?> list(Map<String, Object> cdi, String name) {
        return cdi.get(name) instanceof List<?> list ? list : List.of();
    }

    private static void mount(ContainerAllocateResponse.Builder answer, String host, String container, boolean readOnly) {
        Mount mount = Mount.newBuilder().setHostPath(host).setContainerPath(container).setReadOnly(readOnly).build();
        if (!answer.getMountsList().contains(mount)) {
            answer.addMounts(mount);
        }
    }

    /// The library is the same file under Alnair's name, so Alnair's switches apply to it.
    private void addAlnair(ContainerAllocateResponse.Builder answer, Map<String, String> environment, String id) {
        Path library = ALNAIR_FOLDER.resolve(ALNAIR_LIBRARY);
        environment.put("LD_PRELOAD", library.toString());
        environment.put("ALNAIR_ID", id);
        environment.put("ALNAIR_WORKSPACE_PATH", ALNAIR_WORKSPACE);
        environment.put("ALNAIR_SOCKET", socket.toString());
        mount(answer, edits.library().resolve(ALNAIR_LIBRARY).toString(), library.toString(), true);
        mount(answer, alnair.of(id).toString(), ALNAIR_WORKSPACE, false);
        mount(answer, socket.getParent().toString(), socket.getParent().toString(), true);
    }
}
