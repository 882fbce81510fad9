package sluice.codegen;

import java.util.ArrayList;
import java.util.List;
import sluice.codegen.entries.AbiHeader;
import sluice.codegen.entries.CallTableSource;
import sluice.codegen.entries.EntriesHeader;
import sluice.codegen.entries.EntriesSource;
import sluice.codegen.entries.ExportsMap;
import sluice.codegen.entries.GatedSource;
import sluice.codegen.entries.HooksHeader;
import sluice.codegen.entries.HooksPage;
import sluice.codegen.entries.RealHeader;
import sluice.codegen.entries.SimBodiesHeader;
import sluice.codegen.entries.SimEntriesSource;
import sluice.codegen.entries.TrampolinesSource;
import sluice.codegen.layout.LayoutHeader;
import sluice.codegen.layout.LayoutPage;
import sluice.codegen.layout.LayoutSource;
import sluice.codegen.layout.LayoutSpec;
import sluice.codegen.layout.PlacesSource;
import sluice.codegen.layout.TextSource;
import sluice.codegen.layout.ViewSource;
import sluice.codegen.text.Output;

/// The files that are made from the specs.
final class Generator {
    private Generator() {}

    /// The files that the build needs.
    static List<Output> sources(Spec spec) {
        var cuda = spec.cuda();
        var outputs = new ArrayList<Output>();
        for (var api : List.of(cuda, spec.nvml())) {
            outputs.add(new Output("native/" + api.file().library() + "_abi.h", AbiHeader.emit(api)));
            outputs.add(new Output("native/real" + api.file().suffix() + ".h", RealHeader.emit(api)));
            outputs.add(new Output("native/hooks" + api.file().suffix() + ".h", HooksHeader.emit(api)));
            outputs.add(new Output("native/entries" + api.file().suffix() + ".c", EntriesSource.emit(api)));
        }
        outputs.addAll(List.of(
                new Output("native/cuda_entries.h", EntriesHeader.emit(cuda)),
                new Output("native/trampolines.S", TrampolinesSource.emit(cuda)),
                new Output("native/gated.c", GatedSource.emit(cuda)),
                new Output("native/exports.map", ExportsMap.library(cuda, spec.nvml())),
                new Output("sim/sim_bodies.h", SimBodiesHeader.emit(cuda)),
                new Output("sim/sim_entries.c", SimEntriesSource.emit(cuda)),
                new Output("sim/exports.map", ExportsMap.simulatedDriver(cuda)),
                java("CallTable", CallTableSource.emit(cuda)),
                java("RegionText", TextSource.emit()),
                java("LayoutPlaces", PlacesSource.emit()),
                java("SluiceVersion", PlacesSource.version(System.getProperty("sluice.version", "unknown")))));
        outputs.addAll(layout(spec.region()));
        outputs.addAll(layout(spec.board()));
        outputs.addAll(layout(spec.trace()));
        return outputs;
    }

    private static List<Output> layout(LayoutSpec spec) {
        var outputs = new ArrayList<Output>();
        outputs.add(new Output("native/" + spec.file().word() + "_layout.h", LayoutHeader.emit(spec)));
        outputs.add(java(spec.file().layoutClass(), LayoutSource.emit(spec)));
        for (var record : spec.records()) {
            outputs.add(java(spec.file().viewClass(record), ViewSource.emit(spec, record)));
        }
        return outputs;
    }

    private static Output java(String className, String content) {
        return new Output("java/sluice/region/layout/" + className + ".java", content);
    }

    private static Output page(LayoutSpec spec) {
        return new Output(spec.file().page(), LayoutPage.emit(spec));
    }

    /// The reference pages, which are committed.
    static List<Output> pages(Spec spec) {
        return List.of(
                new Output("hooks.md", HooksPage.emit(spec.cuda(), spec.nvml())),
                page(spec.region()),
                page(spec.board()),
                page(spec.trace()));
    }
}
