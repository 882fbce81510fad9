package sluice.kubernetes.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import sluice.api.json.JsonBytes;
import sluice.api.json.JsonTree;
import sluice.linux.DurableFolder;
import sluice.region.place.SluiceException;

/// The GPUs that this node had, on disk: after a restart the program knows one that has gone in between, and on which there are claims.
final class SeenGpus {
    private static final String NAME = "gpus";

    private final DurableFolder folder;
    private Optional<byte[]> written = Optional.empty();

    SeenGpus(Path path) {
        try {
            folder = DurableFolder.make(path);
        } catch (IOException e) {
            throw new SluiceException("cannot use " + path + " (" + SluiceException.reason(e) + ")", e);
        }
    }

    /// None if there is no file, or if it is damaged: then only what the agent names is known.
    List<NodeGpu> read() {
        try {
            return JsonTree.parse(Files.readAllBytes(folder.path().resolve(NAME))).at("gpus").elements().stream().map(gpu -> new NodeGpu(gpu.at("uuid").text(), gpu.at("name").text(),
                    gpu.at("totalBytes").number(), List.of(), new NodeGpu.Kind(gpu.at("architecture").text(), gpu.at("capability").text(), gpu.at("driver").text()), KernelGpus.Facts.NONE)).toList();
        } catch (IOException | SluiceException e) {
            return List.of();
        }
    }

    /// The same again writes nothing.
    void keep(Collection<NodeGpu> gpus) {
        byte[] json = JsonBytes.of(out -> {
            out.writeStartObject();
            out.writeArrayPropertyStart("gpus");
            for (NodeGpu gpu : gpus) {
                out.writeStartObject();
                out.writeStringProperty("uuid", gpu.uuid());
                out.writeStringProperty("name", gpu.name());
                out.writeNumberProperty("totalBytes", gpu.totalBytes());
                out.writeStringProperty("architecture", gpu.kind().architecture());
                out.writeStringProperty("capability", gpu.kind().capability());
                out.writeStringProperty("driver", gpu.kind().driver());
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
        });
        if (written.isPresent() && Arrays.equals(written.get(), json)) {
            return;
        }
        try {
            folder.write(NAME, json);
            written = Optional.of(json);
        } catch (IOException e) {
            throw new SluiceException("cannot write down the GPUs in " + folder.path() + " (" + SluiceException.reason(e) + ")", e);
        }
    }
}
