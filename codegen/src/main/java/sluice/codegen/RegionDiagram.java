package sluice.codegen;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The picture of the file in `docs/region.md`: what lies at which offset.
final class RegionDiagram {
    private static final int WIDTH = 30;

    private final List<String> lines = new ArrayList<>();
    private final RegionSpec region;

    private RegionDiagram(RegionSpec region) {
        this.region = region;
    }

    static String emit(RegionSpec region) {
        var diagram = new RegionDiagram(region);
        diagram.draw();
        return String.join("\n", diagram.lines);
    }

    private void draw() {
        long end = 0;
        for (var place : region.places().stream().sorted(Comparator.comparingLong(RegionSpec.Place::offset)).toList()) {
            unused(end, place.offset());
            edge(place.offset());
            box(place.record().name(), place.count() + " × " + place.record().bytes(), place.note());
            end = place.end();
        }
        unused(end, region.regionBytes());
        lines.add("%9d └%s┘".formatted(region.regionBytes(), "─".repeat(WIDTH)));
    }

    private void unused(long from, long to) {
        if (from < to) {
            edge(from);
            box("(unused)", Long.toString(to - from), "");
        }
    }

    private void edge(long offset) {
        var corners = offset == 0 ? "┌─┐" : offset == region.pageBytes() ? "╞═╡" : "├─┤";
        lines.add("%9d %s%s%s".formatted(
                offset, corners.charAt(0), String.valueOf(corners.charAt(1)).repeat(WIDTH), corners.charAt(2)));
    }

    private void box(String name, String size, String note) {
        lines.add("          │ %-14s%14s │ %s".formatted(name, size, note).stripTrailing());
    }
}
