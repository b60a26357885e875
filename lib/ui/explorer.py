"""The fields of a slicer to choose from, and the top values of the chosen one, a click away from Audience."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from lib.reporting.models import AudienceQuery, DataField, KeyField
from lib.ui import (
    ask,
    exploration,
    fields,
    filter_picker,
    look,
    precision,
    problems,
    question,
    shortfalls,
    top_values,
)
from lib.ui.frame import Here
from lib.ui.numbers import Numbers, days, title
from lib.ui.top_values import TopValues

AUDIENCE = Path(__file__).parents[2] / "pages" / "audience.py"
SEARCH, ONLY = "fields_search", "values_only"
ROW, LETTER, NARROW, WIDE = 33, 9, 70, 200
NO_TOOLBAR = "<style>.st-key-fields [data-testid=stElementToolbar] { display: none; }</style>"


@dataclass(frozen=True)
class Shelf:
    """A table of fields of which one is chosen. `key` keeps the choice while the session lasts."""

    key: str
    what: str
    fields: Sequence[Any]
    usual: str
    table: Callable[[Sequence[Any]], pd.DataFrame]
    rows: int


@st.fragment
def explorer(here: Here) -> None:
    """Fields on the left, on the right the top values of the chosen one."""
    if not here.slicer.key_fields or not here.slicer.data_fields:
        st.info("This slicer has no fields to look at yet.")
        return
    left, right = st.columns([11, 13], gap="medium")
    with left:
        text = st.text_input(
            "Search fields",
            type="search",
            placeholder="Search key fields and data fields",
            key=SEARCH,
            live=True,
            label_visibility="collapsed",
        )
        key_shelf, data_shelf = _shelves(here)
        with st.container(key="fields"):
            st.html(NO_TOOLBAR)
            key, data = _pick(key_shelf, text or ""), _pick(data_shelf, text or "")
    with right:
        _answer(here, here.slicer.key_field(key), here.slicer.data_field(data))


def _shelves(here: Here) -> tuple[Shelf, Shelf]:
    slicer, where = here.slicer, f"{here.project}/{here.slicer_name}"
    first = next(iter(question.first_split(slicer)), slicer.key_fields[0].name)
    return (
        Shelf(f"key_field:{where}", "Key field", slicer.key_fields, first, fields.key_field_table, 8),
        Shelf(
            f"data_field:{where}",
            "Data field",
            slicer.data_fields,
            slicer.data_fields[0].name,
            fields.data_field_table,
            6,
        ),
    )


def _pick(shelf: Shelf, text: str) -> str:
    """Draw the fields that the search finds; the name of the one that is chosen."""
    matches = fields.matching(shelf.fields, text)
    name = fields.chosen(matches, st.session_state.get(shelf.key, shelf.usual))
    if not matches:
        st.caption(f"None of the {len(shelf.fields)} {shelf.what.lower()}s is called so.")
        return name
    names, key = [field.name for field in matches], f"{shelf.key}:{text}"
    cells = st.session_state.get(key, {"selection": {"cells": []}})["selection"]["cells"]
    name = names[cells[0][0]] if cells else name
    st.session_state[shelf.key] = name
    st.dataframe(
        _marked(shelf.table(matches), names.index(name)),
        height=ROW * (min(shelf.rows, len(matches)) + 1) + 2,
        hide_index=True,
        placeholder="",
        column_config={shelf.what: _counted(shelf, len(matches))},
        key=key,
        on_select="rerun",
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(names.index(name), shelf.what)]}},
        alt=f"{shelf.what}s of the slicer: choose one",
    )
    return name


def _marked(table: pd.DataFrame, place: int) -> Styler:
    """The table with the chosen row standing out."""
    style = f"background-color: {look.BAND}; font-weight: 600"
    return table.style.apply(lambda _: [style] * table.shape[1], axis=1, subset=(place, slice(None)))


def _counted(shelf: Shelf, found: int) -> str:
    of_all = f" of {len(shelf.fields)}" if found < len(shelf.fields) else ""
    return f"{shelf.what} ({found}{of_all})"


def _answer(here: Here, key: KeyField, data: DataField) -> None:
    """What is known about the chosen fields, and the top values."""
    with st.container(horizontal=True, vertical_alignment="center"):
        name = key.description or key.name
        st.subheader(f"{name} by {title(data)}", anchor=False, width="stretch")
        if st.button(f"Split by {name} in Audience", icon=":material/call_split:", key="split_by_it"):
            _carry(here, question.current(here).model_copy(update={"split_by": (key.name,)}), data)
    with problems.told("The top values"):
        query = exploration.last_days(here)
        top = top_values.top_values(partial(ask.audience, here), query, here.slicer, key.name, data.name)
        numbers = Numbers.of(st.context.locale)
        shown_days = days(*exploration.period(here, query))
        sentence = precision.sentence(top.answer, data.name, numbers)
        st.caption(f"{top_values.counted(top, numbers)} · {shown_days} · {sentence}")
        _about(here, key, data, top)
        _table(here, top)


def _about(here: Here, key: KeyField, data: DataField, top: TopValues) -> None:
    for field in (key, data):
        if known := fields.about(field):
            st.caption(f"**{field.description or field.name}** {' · '.join(known)}")
    for sentence in (*shortfalls.codes(here.slicer, [key.name]), *shortfalls.never_sent(here.slicer, data)):
        st.caption(sentence)
    if top.order != top.data_field:
        st.caption(
            f"Ordered by {title(top.order)}: {title(data)} is a formula, highest where there is least."
        )


def _table(here: Here, top: TopValues) -> None:
    if not top.values:
        st.info("No data in these days.", icon=":material/info:")
        return
    table = top_values.frame(top)
    table[ONLY] = ":material/filter_alt: Filter"
    st.dataframe(
        table,
        height=ROW * (len(table) + 1) + 2,
        hide_index=True,
        placeholder="–",
        column_config=_columns(top, table),
        alt=f"Top values of {top.key_field.description} by {title(top.data_field)}",
    )
    if click := st.session_state.get(ONLY):
        wanted = filter_picker.include(question.current(here), top.key_field.name, top.values[click.row])
        _carry(here, wanted, top.data_field)


def _columns(top: TopValues, table: pd.DataFrame) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "value": st.column_config.TextColumn(top.key_field.description or top.key_field.name, width=WIDE),
        "id": st.column_config.TextColumn("ID", width=NARROW),
        ONLY: st.column_config.ButtonColumn(
            "", type="tertiary", key=ONLY, help="Ask in Audience for this value alone", width=NARROW
        ),
    }
    for field in top.shown:
        step = 10**-field.display_precision
        name = title(field, with_unit=True)
        columns[field.name] = st.column_config.NumberColumn(
            name, format="localized", step=step, width=max(NARROW, LETTER * len(name))
        )
        columns[f"off:{field.name}"] = st.column_config.NumberColumn(
            "± %",
            format="localized",
            step=0.1,
            width=NARROW,
            help="How far off the figure may be: 95 % range",
        )
        share = f"share:{field.name}"
        if share in table:
            columns[share] = st.column_config.ProgressColumn(
                "Share, %", format="localized", step=0.1, width=110, max_value=float(table[share].max())
            )
    return columns


def _carry(here: Here, asked: AudienceQuery, data: DataField) -> None:
    """To Audience, with that question and this data field shown."""
    question.ask(asked)
    question.look(here, field=data.name)
    st.switch_page(AUDIENCE, query_params=st.session_state[question.KEPT])
