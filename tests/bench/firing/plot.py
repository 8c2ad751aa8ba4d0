"""Plot of lateness over time as an SVG."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 900, 240, 75, 40, 30
COLOURS = {"p50": "#2a9d5c", "p99": "#2767c4", "max": "#c43327"}


def ceiling(panels):
    """The exponent of the power of ten, in milliseconds, that is above all values."""
    highest = max((value for _, columns in panels for value in columns["max"]), default=1)
    return max(1, math.ceil(math.log10(max(1, highest))))


def line(columns, name, x, y):
    points = " ".join(f"{x(second):.1f},{y(value):.1f}" for second, value in zip(columns["second"], columns[name]))
    return f'<polyline fill="none" stroke="{COLOURS[name]}" stroke-width="1.5" points="{points}"/>'


def panel(title, columns, top, decades):
    first, last = min(columns["second"], default=0), max(columns["second"], default=0)
    inside, floor = HEIGHT - TOP - BOTTOM, top + HEIGHT - BOTTOM

    def x(second):
        return LEFT + (WIDTH - LEFT - 20) * (second - first) / max(1, last - first)

    def y(milliseconds):
        return floor - inside * math.log10(max(1, milliseconds)) / decades
    parts = [f'<text x="{LEFT}" y="{top + 16}" font-weight="bold">{escape(title)}</text>']
    for decade in range(decades + 1):
        height = y(10 ** decade)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{height:.1f}" y2="{height:.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{10 ** decade} ms</text>')
    for second in (first, last):
        parts.append(f'<text x="{x(second):.1f}" y="{floor + 18}" text-anchor="middle">{second} s</text>')
    parts += [line(columns, name, x, y) for name in reversed(COLOURS)]
    for place, name in enumerate(COLOURS):
        parts.append(f'<text x="{WIDTH - 180 + 50 * place}" y="{top + 16}" fill="{COLOURS[name]}">{name}</text>')
    return "\n".join(parts)


def svg(panels):
    """`panels`: (title, columns of by_second), one below the other; milliseconds on a logarithmic scale from 1."""
    decades = ceiling(panels)
    drawn = "\n".join(panel(title, columns, HEIGHT * place, decades) for place, (title, columns) in enumerate(panels))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT * len(panels)}" '
            f'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
            f"{drawn}\n</svg>\n")
