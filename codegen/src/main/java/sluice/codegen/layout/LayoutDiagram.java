package sluice.codegen.layout;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The picture of the file in `docs/region.md` and its like: the records by their offsets.
final class LayoutDiagram {
    private static final int WIDTH = 30;

    private final List<String> lines = new ArrayList<>();
    private final LayoutSpec spec;

    private LayoutDiagram(LayoutSpec spec) {
        this.spec = spec;
    }

    static String emit(LayoutSpec spec) {
        var diagram = new LayoutDiagram(spec);
        diagram.draw();
        return String.join("\n", diagram.lines);
    }

    private void draw() {
        long end = 0;
        for (var place : spec.places().stream().sorted(Comparator.comparingLong(LayoutSpec.Place::offset)).toList()) {
            unused(end, place.offset());
            edge(place.offset());
            box(place.record().name(), (place.isOpen() ? "n" : place.count()) + " × " + place.record().bytes(), place.note());
            end = place.end();
        }
        unused(end, spec.fileBytes());
        var last = spec.places().stream().anyMatch(LayoutSpec.Place::isOpen) ? "" : Long.toString(spec.fileBytes());
        lines.add("%9s └%s┘".formatted(last, "─".repeat(WIDTH)));
    }

    private void unused(long from, long to) {
        if (from < to) {
            edge(from);
            box("(unused)", Long.toString(to - from), "");
        }
    }

    private void edge(long offset) {
        var corners = offset == 0 ? "┌─┐" : offset == spec.pageBytes() ? "╞═╡" : "├─┤";
        lines.add("%9d %s%s%s".formatted(
                offset, corners.charAt(0), String.valueOf(corners.charAt(1)).repeat(WIDTH), corners.charAt(2)));
    }

    private void box(String name, String size, String note) {
        lines.add("          │ %-14s%14s │ %s".formatted(name, size, note).stripTrailing());
    }
}
