"""The drawing of the architecture: which part of the code imports which, as docs/architecture.svg.

    python docs/drawing.py

Reads the imports of app.py, pages and lib. A part is drawn above all that it imports; an arrow is left out
where a longer way leads to the same part. The same imports give the same file, byte for byte.
"""

import ast
from collections.abc import Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "architecture.svg"
WIDTH, ROW, BOX_WIDTH, BOX_HEIGHT, MARGIN = 900, 78, 104, 34, 24
STYLE = """
  .ground { fill: #ffffff } .box { fill: #f3f5f7; stroke: #24748f } .arrow { fill: none; stroke: #97a3b1 }
  text { fill: #0d131b; font: 14px sans-serif; text-anchor: middle; dominant-baseline: central }
  .tip { fill: #97a3b1 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #14181f } .box { fill: #1e242d; stroke: #5fb0cc } text { fill: #e4e8ee }
  }
"""
Edges = Mapping[str, frozenset[str]]
Places = Mapping[str, tuple[float, float]]


def main() -> None:
    """Write the drawing."""
    TARGET.write_text(drawing(), encoding="utf-8")


def drawing() -> str:
    """The drawing of the code as it is."""
    edges = imports()
    placed = places(edges, layers(edges))
    height = max(y for _, y in placed.values()) + BOX_HEIGHT / 2 + MARGIN
    arrows = [_arrow(placed[one], placed[other]) for one in edges for other in sorted(direct(edges, one))]
    boxes = [_box(name, *placed[name]) for name in edges]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img">'
    title = "<title>Which part of the code imports which</title>"
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    )
    marker = f'<defs>{tip}<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
    ground = f'<rect class="ground" width="{WIDTH}" height="{height:g}"/>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", marker, ground, *arrows, *boxes, "</svg>", ""])


def imports() -> Edges:
    """Each part, and the parts that its files import."""
    found: dict[str, set[str]] = {}
    for path in sorted([ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "lib").rglob("*.py")]):
        mine = part(".".join(path.relative_to(ROOT).with_suffix("").parts))
        others = {part(name) for name in _imported(ast.parse(path.read_text(encoding="utf-8")))}
        found.setdefault(mine, set()).update(others - {mine, ""})
    found.pop("", None)
    return {name: frozenset(others & found.keys()) for name, others in sorted(found.items())}


def part(module: str) -> str:
    """`lib.ui.kit` is of ui, `pages.deals` of pages, `app` of app; modules of others are of none."""
    names = module.split(".")
    if names[0] in ("app", "pages"):
        return names[0]
    return names[1] if names[0] == "lib" and len(names) > 1 and names[1] != "__init__" else ""


def _imported(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def below(edges: Edges, name: str) -> frozenset[str]:
    """All parts that this one imports, directly or by way of others."""
    return edges[name].union(*(below(edges, other) for other in edges[name]))


def direct(edges: Edges, name: str) -> frozenset[str]:
    """Those to which no longer way leads."""
    return edges[name] - frozenset().union(*(below(edges, other) for other in edges[name]))


def layers(edges: Edges) -> Mapping[str, int]:
    """How many imports the longest way from each part has; 0 at the bottom."""
    depth: dict[str, int] = {}

    def of(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((of(other) for other in edges[name]), default=-1)
        return depth[name]

    return {name: of(name) for name in edges}


def places(edges: Edges, depth: Mapping[str, int]) -> Places:
    """The middle of each box: a row per layer; in a row, boxes stand near those that import them."""
    top, placed = max(depth.values()), dict[str, tuple[float, float]]()
    for layer in range(top, -1, -1):
        row = [name for name in edges if depth[name] == layer]
        row.sort(key=lambda name: (_pull(name, edges, placed), name))
        for number, name in enumerate(row, 1):
            x = WIDTH * number / (len(row) + 1) + 18 * (layer % 3 - 1)
            placed[name] = (round(x, 1), MARGIN + BOX_HEIGHT / 2 + (top - layer) * ROW)
    return placed


def _pull(name: str, edges: Edges, placed: Places) -> float:
    above = [placed[other][0] for other in placed if name in edges[other]]
    return sum(above) / len(above) if above else WIDTH / 2


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (to_x, to_y) = start, end
    y, to_y = y + BOX_HEIGHT / 2, to_y - BOX_HEIGHT / 2
    bend = (to_y - y) / 2
    way = f"M{x:g} {y:g}C{x:g} {y + bend:g} {to_x:g} {to_y - bend:g} {to_x:g} {to_y:g}"
    return f'<path class="arrow" d="{way}" marker-end="url(#tip)"/>'


def _box(name: str, x: float, y: float) -> str:
    left, up = x - BOX_WIDTH / 2, y - BOX_HEIGHT / 2
    size = f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"'
    return (
        f'<rect class="box" x="{left:g}" y="{up:g}" {size}/><text x="{x:g}" y="{y:g}">{escape(name)}</text>'
    )


if __name__ == "__main__":
    main()
