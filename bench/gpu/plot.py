#!/usr/bin/env python3
"""Draws rate over size: plot.py rates.csv rates.svg [TITLE]. The CSV is that of pause.py rates; where a size was measured several times, the median counts."""
import collections
import csv
import math
import statistics
import sys
from xml.sax.saxutils import escape

COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#8e6c8a", "#e09f3e", "#335c67", "#9e2a2b", "#606c38")
LEFT, TOP, WIDTH, HEIGHT, LEGEND = 60, 40, 640, 320, 260


def lines_of(rows):
    """(way, direction, host memory) → {MiB: GB/s}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if row["gb_per_s"]:
            found[row["way"], row["direction"], row["host_memory"]][int(row["mib"])].append(float(row["gb_per_s"]))
    return {key: {size: statistics.median(rates) for size, rates in sorted(sizes.items())} for key, sizes in sorted(found.items(), reverse=True)}


def size_text(mib):
    return f"{mib // 1024} GiB" if mib >= 1024 and mib % 1024 == 0 else f"{mib} MiB"


def draw(lines, title):
    sizes = sorted({size for points in lines.values() for size in points}) or [1]
    most = max((rate for points in lines.values() for rate in points.values()), default=1) * 1.08
    first, last = math.log2(sizes[0]), math.log2(sizes[-1])

    def place(size, rate):
        x = LEFT + WIDTH * ((math.log2(size) - first) / (last - first) if last > first else 0.5)
        return x, TOP + HEIGHT * (1 - rate / most)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + LEGEND}" height="{TOP + HEIGHT + 50}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>', f'<text x="12" y="20" font-weight="bold" font-size="14">{escape(title)}</text>',
           f'<text x="12" y="{TOP - 6}">GB/s</text>']
    step = 10 ** math.floor(math.log10(most))
    step = next(part for part in (step / 5, step / 2, step, step * 2) if most / part <= 8)
    for number in range(int(most / step) + 1):
        y = place(sizes[0], number * step)[1]
        svg.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" stroke="#ddd"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number * step:g}</text>')
    for size in sizes:
        x = place(size, 0)[0]
        svg.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + HEIGHT}" stroke="#eee"/><text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{size_text(size)}</text>')
    for number, (key, points) in enumerate(lines.items()):
        colour, at = COLOURS[number % len(COLOURS)], [place(size, rate) for size, rate in points.items()]
        dash = ' stroke-dasharray="6 3"' if key[1] == "back" else ""
        svg.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        svg += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at]
        y = TOP + 10 + 18 * number
        svg.append(f'<line x1="{LEFT + WIDTH + 12}" y1="{y}" x2="{LEFT + WIDTH + 36}" y2="{y}" stroke="{colour}" stroke-width="2"{dash}/>'
                   f'<text x="{LEFT + WIDTH + 42}" y="{y + 4}">{escape(", ".join(part for part in key if part))}</text>')
    return "\n".join(svg + ["</svg>"]) + "\n"


def plot(source, target, title="Memory that leaves the GPU and comes back"):
    with open(source, newline="") as file:
        lines = lines_of(csv.DictReader(file))
    with open(target, "w") as file:
        file.write(draw(lines, title))


if __name__ == "__main__":
    plot(*sys.argv[1:])
