package sluice.kubernetes;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import sluice.api.client.AgentSockets;
import sluice.kubernetes.claims.ContainerEdits;
import sluice.kubernetes.plugin.DevicePlugins;
import sluice.kubernetes.slices.SliceDefaults;
import sluice.region.place.SluiceException;

/// What the command line says: `--name value`, each with a default but the node's name.
///
/// @param values     by option
/// @param simulation variables of this process for the simulated driver
record NodeSettings(Map<String, String> values, Map<String, String> simulation) {
    static final String DRIVER = "gpu.sluice.dev";

    private static final int MOST_PORT = 65_535;

    private enum Name {
        NODE("", "name of this node in the cluster; default $NODE_NAME"),
        INSTANCE("", "uid of this pod, so that an update can run beside it; default $POD_UID; if empty there is only one"),
        SERVER("", "address of the API server without credentials, for tests; default that of the pod"),
        AGENT(AgentSockets.OF_ALL.toString(), "socket of the node's agent"),
        REGISTER(AgentSockets.REGISTER_OF_ALL.toString(), "socket on which jobs register with the agent"),
        KUBELET("/var/lib/kubelet", "folder of kubelet"),
        STATE("/var/lib/sluice/kubernetes", "folder for what survives a restart"),
        CDI("/var/run/cdi", "folder of the container runtime for CDI files"),
        LIBRARY("/opt/sluice/lib", "folder with libsluice.so on the node"),
        DRIVER_DEVICES("nvidia.com/gpu", "kind of the CDI devices that bring NVIDIA's files, named by UUID; none: device nodes alone"),
        DEFAULT_MEMORY(SliceDefaults.SHIPPED.memory(), "memory of sluice.dev/gpu: 1, and of a claim that names none: such as 8Gi, or a percentage of what each GPU advertises"),
        DEFAULT_COMPUTE(Integer.toString(SliceDefaults.SHIPPED.compute()), "percent of GPU time of the same; 0: no cap"),
        METRICS_PORT("", "port for the agent's metrics on the pod network, over TLS; if empty there is none"),
        METRICS_TLS("/etc/sluice/metrics-tls", "folder with tls.crt and tls.key for it"),
        METRICS_TOKEN("", "file with the token that reads them; if empty the cluster decides whose token may get /metrics"),
        HEALTH_PORT("", "port for kubelet's probes /ready and /live; if empty there is none"),
        HAMI_PORT("", "port for the metrics under HAMi's names, without TLS, for everybody (there: 9394); if empty there is none"),
        ALNAIR_PORT("", "the same under Alnair's names (there: 9876)"),
        SIMULATED("", "folder with the simulated driver, in the place of NVIDIA's"),
        SIMULATED_STATE("/run/sluice/simulated/gpus", "file of the simulated GPUs, in a folder of its own"),
        DEVICE_PLUGIN("off", "on: a device plugin with sluice.dev/gpu-memory and gpu-compute, in the place of dynamic resource allocation"),
        ALNAIR("off", "on: Alnair's resources, files and annotations as well; with --device-plugin on"),
        ALNAIR_WORKSPACES("/var/lib/alnair/workspace", "folder with the workspaces of Alnair's containers"),
        ALNAIR_SOCKET("/run/alnair/alnair.sock", "the agent's socket for Alnair's clients, its setting alnair-socket");

        private final String usual;
        private final String help;

        Name(String usual, String help) {
            this.usual = usual;
            this.help = help;
        }

        String option() {
            return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    static NodeSettings parse(List<String> arguments, Map<String, String> environment) {
        Map<String, String> values = new LinkedHashMap<>();
        for (Name name : Name.values()) {
            values.put(name.option(), name.usual);
        }
        values.put(Name.NODE.option(), environment.getOrDefault("NODE_NAME", ""));
        values.put(Name.INSTANCE.option(), environment.getOrDefault("POD_UID", ""));
        for (int at = 0; at < arguments.size(); at += 2) {
            if (!values.containsKey(arguments.get(at)) || at + 1 == arguments.size()) {
                throw new SluiceException("'" + arguments.get(at) + "' is no option with a value; there are\n" + help());
            }
            values.put(arguments.get(at), arguments.get(at + 1));
        }
        Map<String, String> simulation = new TreeMap<>(environment);
        simulation.keySet().removeIf(name -> !name.startsWith(ContainerEdits.Simulated.PREFIX) || name.equals("SLUICE_SIM_STATE"));
        NodeSettings settings = new NodeSettings(values, simulation);
        if (!settings.node().matches("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")) {
            throw new SluiceException("'" + settings.node() + "' is no name of a node; set --node or NODE_NAME");
        }
        if (!settings.instance().matches("[0-9a-z-]{0,36}")) {
            throw new SluiceException("'" + settings.instance() + "' is no uid of a pod; set --instance or POD_UID");
        }
        settings.defaults();
        settings.metricsPort();
        settings.otherPorts();
        settings.healthPort();
        if (settings.isOn(Name.ALNAIR) && !settings.isDevicePlugin()) {
            throw new SluiceException("--alnair on needs --device-plugin on; with dynamic resource allocation, the webhook translates Alnair's resources (docs/kubernetes.md)");
        }
        return settings;
    }

    static String help() {
        List<String> lines = new ArrayList<>();
        for (Name name : Name.values()) {
            lines.add("  " + name.option() + " VALUE  " + name.help + (name.usual.isEmpty() ? "" : "; default " + name.usual));
        }
        return String.join("\n", lines);
    }

    private String value(Name name) {
        return values.get(name.option());
    }

    private Path path(Name name) {
        return Path.of(value(name)).toAbsolutePath();
    }

    private Optional<String> some(Name name) {
        return Optional.of(value(name)).filter(text -> !text.isEmpty());
    }

    String node() {
        return value(Name.NODE);
    }

    String instance() {
        return value(Name.INSTANCE);
    }

    Optional<URI> server() {
        return some(Name.SERVER).map(URI::create);
    }

    Path agent() {
        return path(Name.AGENT);
    }

    Path kubelet() {
        return path(Name.KUBELET);
    }

    Path state() {
        return path(Name.STATE);
    }

    Path cdi() {
        return path(Name.CDI);
    }

    SliceDefaults defaults() {
        return SliceDefaults.parse(value(Name.DEFAULT_MEMORY), value(Name.DEFAULT_COMPUTE));
    }

    private OptionalInt port(Name name) {
        Optional<String> port = some(name);
        if (port.isPresent() && (!port.get().matches("[0-9]{1,5}") || Integer.parseInt(port.get()) > MOST_PORT)) {
            throw new SluiceException(name.option() + " '" + port.get() + "' is no port");
        }
        return port.stream().mapToInt(Integer::parseInt).findFirst();
    }

    OptionalInt metricsPort() {
        return port(Name.METRICS_PORT);
    }

    OptionalInt healthPort() {
        return port(Name.HEALTH_PORT);
    }

    Path metricsTls() {
        return path(Name.METRICS_TLS);
    }

    Optional<Path> metricsToken() {
        return some(Name.METRICS_TOKEN).map(Path::of);
    }

    /// Ports for the names of other exporters, by their words.
    Map<String, OptionalInt> otherPorts() {
        return Map.of("hami", port(Name.HAMI_PORT), "alnair", port(Name.ALNAIR_PORT));
    }

    private boolean isOn(Name name) {
        return switch (value(name)) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new SluiceException(name.option() + " is '" + value(name) + "'; write on or off");
        };
    }

    boolean isDevicePlugin() {
        return isOn(Name.DEVICE_PLUGIN);
    }

    DevicePlugins.Places plugin() {
        return new DevicePlugins.Places(kubelet(), state().resolve("units"), isOn(Name.ALNAIR), path(Name.ALNAIR_WORKSPACES), path(Name.ALNAIR_SOCKET));
    }

    ContainerEdits edits() {
        Optional<ContainerEdits.Simulated> simulated = some(Name.SIMULATED).map(folder -> new ContainerEdits.Simulated(Path.of(folder).toAbsolutePath(), path(Name.SIMULATED_STATE), simulation));
        Optional<String> devices = some(Name.DRIVER_DEVICES).filter(kind -> simulated.isEmpty() && !kind.equals("none"));
        return new ContainerEdits(path(Name.LIBRARY), path(Name.REGISTER), simulated, devices);
    }
}
