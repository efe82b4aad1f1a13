#!/usr/bin/env python3
"""Draws terminal.svg, from a real run, and s-curve.svg. The other pictures are written by hand.

    docs/pictures/make.py target/release/dedupdb

Needs nothing but Python. A test runs the commands of terminal.svg again and compares what they print.
"""

import html
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTDATA = HERE.parent.parent / "testdata"

COMMANDS = [
    "dedupdb add testdata/folder",
    "dedupdb query testdata/query.txt",
    "dedupdb explain testdata/query.txt testdata/folder/news/library-night.txt | tail -n 4",
]

STYLE = """
  .window { fill: #1e2228 }
  .bar { fill: #2c323b }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d6dbe3;
    white-space: pre }
  .typed { font-weight: 600; fill: #8fd18f }
"""


def run(program: Path) -> list[tuple[str, str]]:
    """The lines of the terminal: each with its class."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(TESTDATA, Path(folder, "testdata"))
        path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
        environment = {"PATH": path, "LC_ALL": "C.UTF-8"}
        for command in COMMANDS:
            lines.append(("typed", f"$ {command}"))
            line = f"exec 2>&1; {command}"
            ran = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, check=True)
            lines.extend(("", line.expandtabs().rstrip()) for line in ran.stdout.decode().splitlines())
    return lines


def terminal(lines: list[tuple[str, str]]) -> str:
    """A window with the lines."""
    width = 34 + round(8.45 * max(len(line) for _, line in lines))
    height = 58 + 20 * len(lines)
    drawn = []
    for number, (kind, line) in enumerate(lines):
        mark = f' class="{kind}"' if kind else ""
        drawn.append(f'<text{mark} x="17" y="{58 + 20 * number}" xml:space="preserve">{html.escape(line)}</text>')
    dots = "".join(
        f'<circle cx="{20 + 20 * number}" cy="16" r="6" fill="{colour}"/>'
        for number, colour in enumerate(["#e5655b", "#e0b04a", "#6cb660"])
    )
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<title>dedupdb in a terminal</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="window" width="{width}" height="{height}" rx="8"/>',
        f'<path class="bar" d="M0 32V8a8 8 0 0 1 8-8h{width - 16}a8 8 0 0 1 8 8v24z"/>',
        dots,
        *drawn,
        "</svg>",
        "",
    ])


CURVE_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #444 }
  .axis { stroke: #888; fill: none }
  .grid { stroke: #888; stroke-opacity: .3; fill: none }
  .curve { fill: none; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) { text { fill: #ccc } }
"""


def s_curve() -> str:
    """The chance to find a pair, by its similarity, for three shapes of bands."""
    left, top, width, height = 60, 20, 520, 300

    def place(similarity: float, found: float) -> str:
        return f"{left + width * similarity:.1f} {top + height * (1 - found):.1f}"

    parts = []
    for step in range(0, 11, 2):
        share = step / 10
        parts.append(f'<path class="grid" d="M{place(0, share)}L{place(1, share)}M{place(share, 0)}L{place(share, 1)}"/>')
        x, y = left + width * share, top + height * (1 - share)
        parts.append(f'<text x="{x:.0f}" y="{top + height + 20}" text-anchor="middle">{share:.1f}</text>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{share:.0%}</text>')
    parts.append(f'<path class="axis" d="M{place(0, 1)}L{place(0, 0)}L{place(1, 0)}"/>')
    for number, (bands, rows, colour) in enumerate([(17, 7, "#2a7ab0"), (32, 4, "#c8742c"), (8, 16, "#5a9a4a")]):
        points = (place(i / 100, 1 - (1 - (i / 100) ** rows) ** bands) for i in range(101))
        parts.append(f'<path class="curve" stroke="{colour}" d="M{"L".join(points)}"/>')
        x, y = left + 16, top + 20 + 22 * number
        parts.append(f'<path class="curve" stroke="{colour}" d="M{x} {y}h26"/>')
        label = f"{bands} bands of {rows} rows" + (", the default" if number == 0 else "")
        parts.append(f'<text x="{x + 34}" y="{y + 4}">{label}</text>')
    parts.append(f'<path class="axis" stroke-dasharray="4 4" d="M{place(0.8, 0)}L{place(0.8, 1)}"/>')
    parts.append(f'<text x="{left + width / 2}" y="{top + height + 44}" text-anchor="middle">Jaccard similarity of a pair</text>')
    parts.append(f'<text transform="translate(14 {top + height / 2}) rotate(-90)" text-anchor="middle">chance to find it</text>')
    size = f'viewBox="0 0 {left + width + 20} {top + height + 54}" width="{left + width + 20}" height="{top + height + 54}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        "<title>The probability to find a pair against its similarity</title>",
        f"<style>{CURVE_STYLE}</style>",
        *parts,
        "</svg>",
        "",
    ])


def main() -> None:
    """Draws both."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM")
    (HERE / "terminal.svg").write_text(terminal(run(Path(sys.argv[1]).resolve())), encoding="utf-8")
    (HERE / "s-curve.svg").write_text(s_curve(), encoding="utf-8")


if __name__ == "__main__":
    main()
