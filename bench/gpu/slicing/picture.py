"""A picture of rows: for each series a dot at the median and a line from the least to the greatest. One SVG file that needs nothing else."""
import math
import statistics
from xml.sax.saxutils import escape

COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#8e6c8a", "#e09f3e", "#335c67")
LEFT, TOP, WIDTH, ROW, LEGEND = 320, 60, 640, 26, 220


def dots(title, rows, target=None, logarithmic=True):
    """rows: (name, {series: values}); target: a line that values should not pass."""
    values = [value for _, series in rows for many in series.values() for value in many if value > 0 or not logarithmic] or [1]
    scale = math.log10 if logarithmic else float
    low, high = scale(min(values + ([1] if logarithmic else [0]))), scale(max(values + ([target] if target else []))) * (1 if logarithmic else 1.05)
    high = high + 0.05 if high > low else low + 1

    def x(value):
        return LEFT + WIDTH * (scale(value) - low) / (high - low)

    names = list(dict.fromkeys(name for _, series in rows for name in series))
    height = TOP + ROW * len(rows) + 30
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + LEGEND}" height="{height}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>', f'<text x="12" y="20" font-weight="bold" font-size="14">{escape(title)}</text>']
    ticks = [1, 1.2, 1.5, 2, 3, 5, 10, 20, 30, 50, 100] if logarithmic else [low + (high - low) * i / 6 for i in range(7)]
    for tick in ticks:
        if low - 1e-9 <= scale(tick) <= high:
            svg.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP - 8}" y2="{height - 24}" stroke="#ddd"/>'
                       f'<text x="{x(tick):.1f}" y="{height - 8}" text-anchor="middle">{tick:g}</text>' if logarithmic else
                       f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP - 8}" y2="{height - 24}" stroke="#ddd"/>'
                       f'<text x="{x(tick):.1f}" y="{height - 8}" text-anchor="middle">{tick:.1f}</text>')
    if target:
        svg.append(f'<line x1="{x(target):.1f}" x2="{x(target):.1f}" y1="{TOP - 8}" y2="{height - 24}" stroke="#333" stroke-dasharray="4 3"/>')
    for number, (name, series) in enumerate(rows):
        y = TOP + ROW * number + ROW / 2
        svg.append(f'<text x="{LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>')
        for which, many in series.items():
            colour = COLOURS[names.index(which) % len(COLOURS)]
            at = y + 4 * (names.index(which) - (len(names) - 1) / 2)
            svg.append(f'<line x1="{x(min(many)):.1f}" x2="{x(max(many)):.1f}" y1="{at:.1f}" y2="{at:.1f}" stroke="{colour}" stroke-width="2"/>'
                       f'<circle cx="{x(statistics.median(many)):.1f}" cy="{at:.1f}" r="3.5" fill="{colour}"/>')
    for number, which in enumerate(names):
        y = TOP + 18 * number
        svg.append(f'<circle cx="{LEFT + WIDTH + 24}" cy="{y}" r="4" fill="{COLOURS[number % len(COLOURS)]}"/><text x="{LEFT + WIDTH + 34}" y="{y + 4}">{escape(which)}</text>')
    return "\n".join(svg + ["</svg>"]) + "\n"
