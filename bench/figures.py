#!/usr/bin/env python3
"""Draws what bench/run.py and bench/scale.py measured, as SVG.

    bench/figures.py --out DIR                                   # measures first, one run each
    bench/figures.py --out DIR --bench bench.json [--scale scale.json]

    models.svg     seconds of a whole check for each model, by phase (as figure 3 of *It Takes Two to Entangle*, ASPLOS 2026)
    scaling.svg    seconds over the number of layers and of ranks (figure 4)
    lemmas.svg     how often each lemma was applied, for each model (figure 6)

Plain Python, no packages; the same measurements give the same bytes.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
PHASES = (("start-up, report", "#8c8c8c"), ("read", "#4c78a8"), ("lower", "#f2a33a"), ("infer", "#54a24b"))
COLOURS = ("#4c78a8", "#e45756", "#54a24b", "#f2a33a", "#8e6c8a", "#72b7b2")
FONT = "font-family='sans-serif'"


class Drawing:
    """SVG, piece by piece."""

    def __init__(self):
        self.parts, self.width, self.height = [], 0, 0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def box(self, x, y, width, height, colour):
        self.parts.append(f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{colour}'/>")
        self.reach(x + width, y + height)

    def line(self, points, colour, width=1.0):
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f"<polyline points='{text}' fill='none' stroke='{colour}' stroke-width='{width}'/>")

    def dot(self, x, y, colour):
        self.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'/>")

    def text(self, x, y, text, size=11, anchor="start", colour="#222", turned=False):
        turn = f" transform='rotate(-90 {x:.1f} {y:.1f})'" if turned else ""
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' {FONT} font-size='{size}' text-anchor='{anchor}' fill='{colour}'{turn}>{escape(str(text))}</text>")
        self.reach(x + (len(str(text)) * size * 0.6 if anchor == "start" and not turned else 0), y + size / 2)

    def write(self, path):
        size = f"width='{self.width + 16:.0f}' height='{self.height + 16:.0f}'"
        path.write_text(f"<svg xmlns='http://www.w3.org/2000/svg' {size}>\n<rect width='100%' height='100%' fill='white'/>\n"
                        + "\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")


def nice_step(most, count=5):
    """A round step so that about `count` of them reach `most`."""
    raw = most / count
    unit = 10 ** math.floor(math.log10(raw))
    return next(unit * k for k in (1, 2, 5, 10) if unit * k >= raw)


def short(row):
    """gpt/paral2_layer1 of shared/data/gpt/paral2_layer1.yaml"""
    path = pathlib.PurePath(row["manifest"]).with_suffix("")
    return "/".join(path.parts[-2:])


def size_of(name):
    """(model, ranks, layers) by the name of a data set, or None."""
    found = re.fullmatch(r"(\w+)/(?:paral|tp)(\d+)_layer(\d+)", name)
    return found and (found[1], int(found[2]), int(found[3]))


def models(rows):
    d, left, scale_width, height = Drawing(), 200, 420, 18
    most = max(row["total"] for row in rows)
    step = nice_step(most)
    d.text(left, 20, "Seconds of a whole check", 13)
    bottom = 56 + len(rows) * (height + 6)
    for k in range(int(most / step) + 2):
        x = left + scale_width * k * step / most
        if x <= left + scale_width + 1:
            d.line([(x, 44), (x, bottom)], "#ddd")
            d.text(x, 40, f"{k * step:g}", 10, "middle", "#555")
    for number, row in enumerate(rows):
        y = 50 + number * (height + 6)
        d.text(left - 8, y + 13, short(row), 11, "end")
        known = {name: row[name] for name, _ in PHASES[1:]}
        parts = {PHASES[0][0]: max(0.0, row["total"] - sum(known.values())), **known}
        x = left
        for name, colour in PHASES:
            width = scale_width * parts[name] / most
            d.box(x, y, width, height, colour)
            x += width
        d.text(x + 6, y + 13, f"{row['total']:.3f}", 10, colour="#555")
    for k, (name, colour) in enumerate(PHASES):
        d.box(left + 120 * k, bottom + 12, 12, 12, colour)
        d.text(left + 120 * k + 18, bottom + 22, name)
    return d


def panel(d, left, title, axis, series):
    """One diagram: {label: [(x, seconds)]}; x in powers of two."""
    width, height, top = 300, 220, 50
    everything = [point for points in series.values() for point in points]
    if not everything:
        return
    low, high = (f(math.log2(x) for x, _ in everything) for f in (min, max))
    most = max(y for _, y in everything) * 1.05
    step = nice_step(most)
    place = lambda x, y: (left + width * (math.log2(x) - low) / max(high - low, 1), top + height * (1 - y / most))
    d.text(left + width / 2, 24, title, 13, "middle")
    for k in range(int(most / step) + 1):
        _, y = place(2 ** low, k * step)
        d.line([(left, y), (left + width, y)], "#ddd")
        d.text(left - 6, y + 4, f"{k * step:g}", 10, "end", "#555")
    for x in sorted({x for x, _ in everything}):
        d.text(place(x, 0)[0], top + height + 16, x, 10, "middle", "#555")
    d.text(left + width / 2, top + height + 34, axis, 11, "middle")
    for number, (label, points) in enumerate(sorted(series.items())):
        colour = COLOURS[number % len(COLOURS)]
        at = [place(x, y) for x, y in sorted(points)]
        d.line(at, colour, 1.8)
        for x, y in at:
            d.dot(x, y, colour)
        y = top + height + 56 + 16 * number
        d.box(left, y - 9, 12, 10, colour)
        d.text(left + 18, y, label)


def scaling(rows, generated):
    by_layers, by_ranks = {}, {}
    for row in rows:
        size = size_of(short(row))
        if size:
            model, ranks, layers = size
            by_layers.setdefault(f"{model}, {ranks} ranks", []).append((layers, row["total"]))
            if layers == 1:
                by_ranks.setdefault(model, []).append((ranks, row["total"]))
    for name, row in generated.items():
        found = re.fullmatch(r"(\d+) (layers|ranks)", name)
        if found and found[2] == "layers":
            by_layers.setdefault("generated, 8 ranks", []).append((int(found[1]), row["seconds"]))
        elif found:
            by_ranks.setdefault("generated", []).append((int(found[1]), row["seconds"]))
    several = lambda series: {label: points for label, points in series.items() if len(points) > 1}
    d = Drawing()
    panel(d, 60, "Seconds over layers", "layers", several(by_layers))
    panel(d, 460, "Seconds over ranks (one layer)", "ranks", several(by_ranks))
    d.reach(780, 300)
    return d


def lemmas(rows):
    names = sorted({name for row in rows for name in row.get("lemmas", {})})
    d, left, cell, high = Drawing(), 200, 44, 13
    columns = [short(row) for row in rows]
    top = 20 + max(len(name) for name in columns) * 6.2
    most = max((count for row in rows for count in row.get("lemmas", {}).values()), default=1)
    for x, name in enumerate(columns):
        d.text(left + x * cell + cell / 2 + 4, top - 4, name, 10, turned=True)
    for y, name in enumerate(names):
        d.text(left - 6, top + y * high + 10, name, 9, "end")
        for x, row in enumerate(rows):
            count = row.get("lemmas", {}).get(name, 0)
            shade = 0 if not count else 0.15 + 0.85 * math.log(count + 1) / math.log(most + 1)
            grey = [round(255 + (part - 255) * shade) for part in (0x4c, 0x78, 0xa8)]
            d.box(left + x * cell, top + y * high, cell - 1, high - 1, "#%02x%02x%02x" % tuple(grey))
            if count:
                d.text(left + x * cell + cell / 2, top + y * high + 10, count, 9, "middle", "white" if shade > 0.6 else "#222")
    foot = top + len(names) * high
    d.text(left - 6, foot + 14, "different lemmas", 10, "end")
    for x, row in enumerate(rows):
        d.text(left + x * cell + cell / 2, foot + 14, len(row.get("lemmas", {})), 10, "middle")
    return d


def measured(script, program, folder):
    """What a script of this folder measures in one run."""
    path = folder / f"{script}.json"
    command = [sys.executable, str(HERE / f"{script}.py"), "--runs", "1", "--json", str(path)]
    subprocess.run(command + (["--program", program] if program else []), check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--bench", type=pathlib.Path, metavar="FILE", help="what run.py wrote; default: it is run")
    parser.add_argument("--scale", type=pathlib.Path, metavar="FILE", help="what scale.py wrote; default: it is run, unless --bench is given")
    parser.add_argument("--program", help="for measuring")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = args.bench or measured("run", args.program, pathlib.Path(scratch))
        scale = args.scale or (None if args.bench else measured("scale", args.program, pathlib.Path(scratch)))
        rows = json.loads(bench.read_text(encoding="utf-8"))["rows"]
        generated = json.loads(scale.read_text(encoding="utf-8"))["models"] if scale else {}
    args.out.mkdir(parents=True, exist_ok=True)
    for name, drawing in (("models", models(rows)), ("scaling", scaling(rows, generated)), ("lemmas", lemmas(rows))):
        drawing.write(args.out / f"{name}.svg")
        print(args.out / f"{name}.svg")


if __name__ == "__main__":
    main()
