package sluice.codegen;

import java.util.ArrayList;
import java.util.List;

/// Which files are made from the specs.
final class Generator {
    private Generator() {}

    /// What the build needs.
    static List<Output> sources(Spec spec) {
        var cuda = spec.cuda();
        var outputs = new ArrayList<>(List.of(
                new Output("native/cuda_abi.h", AbiHeader.emit(cuda)),
                new Output("native/real.h", RealHeader.emit(cuda)),
                new Output("native/hooks.h", HooksHeader.emit(cuda)),
                new Output("native/entries.c", EntriesSource.emit(cuda)),
                new Output("native/trampolines.S", TrampolinesSource.emit(cuda)),
                new Output("native/exports.map", ExportsMap.library(cuda)),
                new Output("native/region_layout.h", RegionHeader.emit(spec.region())),
                new Output("sim/sim_bodies.h", SimBodiesHeader.emit(cuda)),
                new Output("sim/sim_entries.c", SimEntriesSource.emit(cuda)),
                new Output("sim/exports.map", ExportsMap.simulatedDriver(cuda)),
                new Output("java/sluice/region/RegionLayout.java", LayoutSource.emit(spec.region())),
                new Output("java/sluice/region/RegionText.java", TextSource.emit())));
        for (var record : spec.region().records()) {
            outputs.add(new Output(
                    "java/sluice/region/" + ViewSource.className(record) + ".java", ViewSource.emit(spec.region(), record)));
        }
        return outputs;
    }

    /// The reference pages, which are committed.
    static List<Output> pages(Spec spec) {
        return List.of(
                new Output("hooks.md", HooksPage.emit(spec.cuda(), spec.nvml())),
                new Output("region.md", RegionPage.emit(spec.region())));
    }
}
