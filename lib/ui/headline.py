"""The headline: one figure per data field, with its trend and its change."""

from typing import Literal

import numpy as np
import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import DataField
from lib.ui import focus as focuses
from lib.ui import numbers, series
from lib.ui.change import Change, change, of_total
from lib.ui.focus import Focus

NARROWEST = 132
SMALLEST = 0.0005


def draw(focus: Focus, now: Audience, before: Audience | None) -> None:
    """One metric per field of the headline; the one that the page shows stands out."""
    with st.grid(max(len(focus.metrics), 4), min_column_width=NARROWEST, gap="small", wrap=False):
        for name in focus.metrics:
            _metric(focus, focus.slicer.data_field(name), now, before)


def _metric(focus: Focus, field: DataField, now: Audience, before: Audience | None) -> None:
    value = now.total.values.get(field.name)
    changed = Change(None)
    if before is not None:
        changed = change(of_total(now.total, field.name), of_total(before.total, field.name))
    label = numbers.title(field)
    st.metric(
        f"**{label}**" if field.name == focus.field.name else label,
        focus.numbers.short(value, field),
        _delta(focus, changed),
        delta_color=_color(field, changed),
        delta_arrow="auto" if abs(changed.ratio or 0) >= SMALLEST else "off",
        help=_help(focus, field, value, changed),
        chart_data=_trend(focus, field, now),
        chart_type="line",
    )


def _delta(focus: Focus, changed: Change) -> str | None:
    """The change as st.metric reads it: a hyphen for a minus, and no sign where it rounds to nothing."""
    if changed.ratio is None:
        return None
    return focus.numbers.change(changed.ratio).replace(numbers.MINUS, "-")


def _color(field: DataField, changed: Change) -> Literal["off", "inverse", "normal"]:
    if changed.ratio is None or not changed.is_certain or abs(changed.ratio) < SMALLEST:
        return "off"
    return "inverse" if focuses.less_is_better(field) else "normal"


def _trend(focus: Focus, field: DataField, now: Audience) -> list[float] | None:
    """The values over time, without those that are unknown."""
    if focus.grain is None or len(now) < 2:
        return None
    values = series.over(now, field.name, focus.grain, focus.period).values
    return [float(value) for value in values[~np.isnan(values)]]


def _help(focus: Focus, field: DataField, value: float | None, changed: Change) -> str:
    """The exact figure, what the field is, and what is to be said about the change."""
    parts = [focus.numbers.full(value, field), field.annotation or "", field.formula_description or ""]
    if not changed.is_certain:
        parts.append("The change is smaller than its uncertainty")
    return " · ".join(part for part in parts if part)
