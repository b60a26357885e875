"""Filters by figures: `having=imps~ge~1000~ctr~lt~0.2` keeps the rows whose figures pass all of them.

They are about rows: those of leaderboards, of the split as a table, bars or lines, and of a file. Totals, the
headline and the time chart stay those of the whole.
"""

from collections.abc import Callable
from decimal import Decimal

import streamlit as st

from lib.deals.values import Limits
from lib.reporting.links import CODES, digits, split_texts
from lib.reporting.matches import COMPARE, DataMatch
from lib.reporting.models import DataFilter, Slicer
from lib.ui.charts.numbers import Numbers, title
from lib.ui.kit import amounts
from lib.ui.kit.field_problems import beside

SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}
MATCHES: tuple[DataMatch, ...] = (*COMPARE,)
USUAL, MOST = ">=", 10
ANY = Limits(least=-(10**15), below=10**15, decimals=15)


def from_text(text: str, slicer: Slicer) -> tuple[DataFilter, ...]:
    """The filters in a parameter that can be read and are about a data field of the slicer, each once."""
    names = {field.name for field in slicer.data_fields}
    filters = [one for one in _read(text) if one.name in names]
    return tuple(dict.fromkeys(filters))[:MOST]


def missing(text: str, slicer: Slicer) -> list[str]:
    """The data fields of such a parameter that the slicer does not have."""
    names = {field.name for field in slicer.data_fields}
    return [one.name for one in _read(text) if one.name not in names]


def sentence(one: DataFilter, slicer: Slicer, numbers: Numbers) -> str:
    """A filter in words: `Impressions ≥ 1,000`."""
    places = max(0, -int(Decimal(digits(one.value)).as_tuple().exponent))
    field = title(slicer.data_field(one.name), with_unit=True)
    return f"{field} {SIGNS.get(one.match, one.match)} {numbers.number(one.value, places)}"


def fill(prefix: str, one: DataFilter | None = None) -> None:
    """Put a filter into the form's inputs, or the usual start without one."""
    st.session_state[f"{prefix}_match"] = one.match if one else USUAL
    st.session_state[f"{prefix}_value"] = digits(one.value) if one else ""


def draw(prefix: str, one: DataFilter | None = None, change: Callable[[], None] | None = None) -> None:
    """Draw the form: the comparison and the number, with what is wrong with it beside it.

    It shows `one`, unless what is typed in its place is no number yet; `change` is called after a change.
    """
    draft = st.session_state.get(f"{prefix}_value", "")
    if one is not None and not amounts.fault(draft, limits=ANY):
        fill(prefix, one)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.selectbox(
            "Comparison",
            MATCHES,
            format_func=lambda match: SIGNS.get(match, match),
            key=f"{prefix}_match",
            width=90,
            on_change=change,
        )
        text = st.text_input(
            "Figure",
            placeholder="1000",
            key=f"{prefix}_value",
            live=change is None,
            width=160,
            on_change=change,
        )
    if wrong := amounts.fault(text, limits=ANY):
        beside([wrong])


def read(prefix: str, name: str) -> DataFilter | None:
    """The filter in the form's inputs; None while there is no number in it."""
    try:
        value = amounts.read(st.session_state[f"{prefix}_value"], ANY)
    except ValueError:
        return None
    match: DataMatch = st.session_state[f"{prefix}_match"]
    return None if value is None else DataFilter(name=name, match=match, value=float(value))


def _read(text: str) -> list[DataFilter]:
    parts = split_texts(text) if text else ()
    matches = {code: match for match, code in CODES.items()}
    filters = []
    for name, code, number in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        if code in matches and not amounts.fault(number, "none", ANY):
            filters.append(DataFilter(name=name, match=matches[code], value=float(number)))
    return filters
