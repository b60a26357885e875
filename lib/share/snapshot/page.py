"""A snapshot as one HTML file: no network requests, charts as SVG, sorted tables, dark and print.

Its policy forbids all that is not in the file itself; the one script is allowed by its hash. Texts are
escaped by Jinja, whatever they are.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lib.figures import palette
from lib.share.snapshot.models import Answer, Block, Board, Chart, Code, Form, Snapshot
from lib.wire.policy import inline_scripts

FOLDER = Path(__file__).parent
START = "enliven(document)\n"
SIZES = {"wide": (960, 250), "narrow": (360, 220)}
SOURCES = {
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "base-uri": "'none'",
    "form-action": "'none'",
}


def html(
    snapshot: Snapshot | Board,
    form: Form | None = None,
    answer: Answer | None = None,
    code: Code | None = None,
) -> str:
    """The file; with a form, an answer or a code, the page that takes it at its own address."""
    if isinstance(snapshot, Board):
        drawings = [_drawings(block.chart, f"-{index}") for index, block in enumerate(snapshot.blocks)]
        figures: dict[str, Any] = {"snapshot": None, "board": snapshot, "drawings": drawings}
    else:
        figures = {"snapshot": snapshot, "board": None, "drawings": _drawings(snapshot.chart, "")}
    text: str = _template("snapshot.html").render(
        policy=policy(has_form=any(part is not None for part in (form, answer, code))),
        style=Markup(style()),  # noqa: S704  (files of ours)
        script=Markup(script() + START),  # noqa: S704
        form=form,
        answer=answer,
        code=code,
        **figures,
    )
    return text


def block_html(block: Block, name: str, has_title: bool = False) -> str:
    """A cell of a board for the desk; `name` tells its drawings from others'."""
    text: str = _template("block.html").render(
        block=block, drawings=_drawings(block.chart, f"-{name}"), has_title=has_title
    )
    return text


def script() -> str:
    """The script of a page: it defines `enliven`, which shows values of charts and sorts tables in a node."""
    return _read("snapshot.js")


def style() -> str:
    """The style of a page, with its colors as variables; in print those for a light background."""
    light, dark = (f":root {{ {palette.variables(colors)} }}" for colors in (LIGHT, DARK))
    font = f":root {{ color-scheme: light dark; --font: {palette.FONT}; }}"
    modes = f"{font}\n{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n@media print {{ {light} }}\n"
    return modes + _read("snapshot.css")


def error(title: str, sentence: str) -> str:
    """A page with a sentence in place of a snapshot."""
    return html(Snapshot(title, (), "", nothing=sentence))


def policy(ancestors: Sequence[str] | None = None, has_form: bool = False) -> str:
    """The content policy of the page; as a header it also names the origins that may frame it, if any.

    A form goes to the page's own address alone.
    """
    hashes = " ".join(inline_scripts(f"<script>{script() + START}</script>"))
    sources = SOURCES | {"script-src": hashes} | ({"form-action": "'self'"} if has_form else {})
    if ancestors is not None:
        sources["frame-ancestors"] = " ".join(ancestors) or "'none'"
    return "; ".join(f"{kind} {value}" for kind, value in sources.items())


@cache
def _template(name: str) -> Any:
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(name)


@cache
def _read(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def _drawings(time_chart: Chart | None, suffix: str) -> dict[str, Any]:
    """The chart in each size, and what the script shows of it; `suffix` tells its ids from others'."""
    if time_chart is None:
        return {}
    from lib.share.snapshot import chart  # matplotlib takes a second and 45 MB: only where a chart is drawn

    drawings = {name: chart.drawing(time_chart, name + suffix, size) for name, size in SIZES.items()}
    lines = [
        {"label": line.label, "color": line.color, "texts": [*line.texts], "names": [*line.names]}
        for line in time_chart.lines
    ]
    names = [time_chart.bucket(index) for index in range(len(time_chart.names))]
    points = {"names": names, "lines": lines, "places": {name: x for name, (_, x) in drawings.items()}}
    sizes = {name: Markup(svg) for name, (svg, _) in drawings.items()}  # noqa: S704
    text = json.dumps(points, ensure_ascii=False).replace("<", "\\u003c")  # can't end the element it is in
    return {"sizes": sizes, "points": Markup(text)}  # noqa: S704


NAMES = {
    "text": "ink", "background": "ground", "secondaryBackground": "soft", "border": "rule", "gray": "gray",
    "link": "link", "green": "green", "red": "red",
}  # fmt: skip
LIGHT, DARK = (
    {**{NAMES[name]: color for name, color in colors.items() if name in NAMES}, "line": line}
    for colors, line in ((palette.LIGHT, palette.ACCENT), (palette.DARK, palette.DARK["blue"]))
)
"""The colors of a page, by what they are there."""
