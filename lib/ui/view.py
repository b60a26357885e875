"""How a question is looked at: what the link carries beside the question itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from lib.reporting.models import GRANULARITIES, TIME_KEY_FIELDS, Granularity, Slicer
from lib.ui import link

Chart = Literal["table", "bars", "heatmap"]
CHARTS: tuple[Chart, ...] = get_args(Chart)
PREVIOUS, WEEKDAYS = "previous", "weekdays"
PARAMS = ("compare", "field", "grain", "chart")


@dataclass(frozen=True)
class View:
    """What is compared with, the data field shown, the granularity (None: by the range), the split's chart.

    `compare` is `previous`, `weekdays`, a range of two dates, or empty.
    """

    compare: tuple[str, ...] = ()
    field: str | None = None
    grain: Granularity | None = None
    chart: Chart = "table"


def to_params(view: View) -> dict[str, str]:
    """The view as URL parameters; what is at its default is left out."""
    params = {
        "compare": link.joined(view.compare),
        "field": view.field or "",
        "grain": view.grain or "",
        "chart": "" if view.chart == "table" else view.chart,
    }
    return {name: text for name, text in params.items() if text}


def from_params(params: Mapping[str, str], slicer: Slicer) -> View:
    """The view that parameters ask for; what can't be shown is at its default."""
    compare = link.parted(params.get("compare", ""))
    field, chart, grain = params.get("field"), params.get("chart"), params.get("grain")
    return View(
        compare=compare if compare in ((PREVIOUS,), (WEEKDAYS,)) or len(compare) == 2 else (),
        field=field if field in {known.name for known in slicer.data_fields} else None,
        grain=next((known for known in granularities(slicer) if known == grain), None),
        chart=next((known for known in CHARTS if known == chart), "table"),
    )


def granularities(slicer: Slicer) -> list[Granularity]:
    """The granularities that a slicer's rows allow, the finest first."""
    there = {TIME_KEY_FIELDS.get(field.name) for field in slicer.key_fields}
    return [grain for grain in GRANULARITIES if grain in there]
