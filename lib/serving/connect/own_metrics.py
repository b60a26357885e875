"""Own metrics as data fields of a slicer: checked, named in requests by number; the views that use them."""

import re
import unicodedata
from collections.abc import Iterable

from lib.slicers import formulas
from lib.slicers.models import OwnField, Slicer
from lib.views import Alert, OwnMetric, SavedView
from lib.wire.errors import BadRequest, UnknownName

PREFIX = "own."


def name(metric: OwnMetric) -> str:
    """The name of a metric in links and requests, which renaming leaves as it is."""
    return f"{PREFIX}{metric.id}"


def field(metric: OwnMetric, slicer: Slicer) -> OwnField | None:
    """A metric as a data field; None where its formula does not fit the slicer (any more)."""
    if problem(metric.formula, slicer):
        return None
    return OwnField(
        name=name(metric),
        formula=metric.formula,
        description=metric.name,
        display_precision=metric.digits,
        display_pattern=pattern(metric.unit),
    )


def problem(formula: str, slicer: Slicer) -> str:
    """What is wrong with a formula over the slicer's data fields, as a sentence; empty if nothing is."""
    own = {field.name for field in slicer.own_fields}
    names = [field.name for field in slicer.data_fields if field.name not in own]
    try:
        expression = formulas.parse(formula, names)
    except UnknownName as error:
        name_of = {(slicer.data_field(name).description or name).casefold(): name for name in names}
        match = name_of.get(error.name.casefold())
        return _sentence(error) if match is None else f"'{error.name}' is written {formulas.Field(match)}."
    except BadRequest as error:
        return _sentence(error)
    return "" if expression.fields() else "Name at least one data field."


def _sentence(error: BadRequest) -> str:
    return error.reason if error.reason.endswith("?") else f"{error.reason.rstrip('.')}."


def pattern(unit: str) -> str | None:
    """The display pattern of a unit: a sign of a currency stands before the figure, all else after it."""
    if not unit or "#" in unit:
        return None
    is_currency = all(unicodedata.category(letter) == "Sc" for letter in unit)
    return f"{unit}#" if is_currency else f"#{unit}" if unit == "%" else f"# {unit}"


def users(metric: OwnMetric, views: Iterable[SavedView], alerts: Iterable[Alert] = ()) -> list[SavedView]:
    """The views that use a metric, as a figure, an order, a filter, or in an alert."""
    watching = {alert.view_id for alert in alerts if alert.field == name(metric)}
    mentions = re.compile(rf"(?<![\w.]){re.escape(name(metric))}(?!\d)")
    return [
        view
        for view in views
        if view.id in watching or any(mentions.search(text) for text in view.params.values())
    ]
