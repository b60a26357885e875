"""A snapshot as one HTML file: no network requests, charts as SVG, sorted tables, dark and print.

Its policy forbids all that is not in the file itself; the one script is allowed by its hash. Texts are
escaped by Jinja, whatever they are.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lib.snapshot import colors
from lib.snapshot.models import Snapshot, SnapshotAnswer, SnapshotChart, SnapshotCode, SnapshotForm
from lib.wire.policy import inline_scripts

if TYPE_CHECKING:
    from lib.snapshot.chart import ChartDrawing

FOLDER = Path(__file__).parent
SIZES = {"wide": (960, 250), "narrow": (360, 220)}
SOURCES = {
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "base-uri": "'none'",
    "form-action": "'none'",
}


def html(
    snapshot: Snapshot,
    form: SnapshotForm | None = None,
    answer: SnapshotAnswer | None = None,
    code: SnapshotCode | None = None,
) -> str:
    """The file; with a form, an answer or a code, the page that takes it at its own address."""
    drawings = {} if snapshot.chart is None else _drawings(snapshot.chart)
    text: str = _template().render(
        snapshot=snapshot,
        form=form,
        answer=answer,
        code=code,
        policy=policy(has_form=any(part is not None for part in (form, answer, code))),
        style=Markup(colors.style() + _read("snapshot.css")),  # noqa: S704  (a file of ours)
        script=Markup(_read("snapshot.js")),  # noqa: S704
        drawings={name: Markup(drawing.svg) for name, drawing in drawings.items()},  # noqa: S704
        points=_json(_points(snapshot.chart, drawings)) if snapshot.chart else None,
    )
    return text


def error(title: str, sentence: str) -> str:
    """A page with a sentence in place of a snapshot."""
    return html(Snapshot(title, (), "", nothing=sentence))


def policy(ancestors: Sequence[str] | None = None, has_form: bool = False) -> str:
    """The content policy of the page; as a header it also names the origins that may frame it, if any.

    A form goes to the page's own address alone.
    """
    script = " ".join(inline_scripts(f"<script>{_read('snapshot.js')}</script>"))
    sources = SOURCES | {"script-src": script} | ({"form-action": "'self'"} if has_form else {})
    if ancestors is not None:
        sources["frame-ancestors"] = " ".join(ancestors) or "'none'"
    return "; ".join(f"{kind} {value}" for kind, value in sources.items())


@cache
def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("snapshot.html")


@cache
def _read(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def _drawings(time_chart: SnapshotChart) -> Mapping[str, "ChartDrawing"]:
    from lib.snapshot import chart  # matplotlib takes a second and 45 MB: only where a chart is drawn

    return {name: chart.drawing(time_chart, name, size) for name, size in SIZES.items()}


def _points(time_chart: SnapshotChart, drawings: Mapping[str, "ChartDrawing"]) -> dict[str, Any]:
    """What the script shows at a bucket, and where the buckets are."""
    lines = [
        {"label": line.label, "color": line.color, "texts": [*line.texts], "names": [*line.names]}
        for line in time_chart.lines
    ]
    names = [
        f"{name} ({part})" if part else name
        for name, part in zip(time_chart.names, time_chart.parts, strict=True)
    ]
    origins = {name: {"x": drawing.x, "y": drawing.y} for name, drawing in drawings.items()}
    return {"names": names, "lines": lines, "drawings": origins}


def _json(value: object) -> Markup:
    """JSON that can't end the element it is in."""
    return Markup(json.dumps(value, ensure_ascii=False).replace("<", "\\u003c"))  # noqa: S704
