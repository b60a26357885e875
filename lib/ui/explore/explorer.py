"""A slicer's fields, and the top values of the chosen one, each of which leads to Audience."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from lib.figures import rows
from lib.figures.numbers import NOTHING, Numbers, days, title
from lib.figures.query import ask, clicks, precision, state
from lib.figures.query.state import PageState, Tab
from lib.figures.query.view_parts import Exploration
from lib.figures.rows import NO_RECEIPT, ActReceipt, Cell, Column, Row, Table
from lib.reporting import named_days
from lib.reporting.answers import LEVEL
from lib.slicers.models import Direction, Order
from lib.ui.explore import screen, top_values
from lib.ui.explore.top_values import TopValues
from lib.ui.kit import listing, problems, reader, rows_mount, screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, Listing, ListRow, OpenRow
from lib.ui.kit.markdown import plain
from lib.ui.query import current_focus, history

BOARD = "top_rows"
SEARCH = "fields_search"


def catch_up(context: PageContext, fields: Exploration) -> tuple[ActReceipt, Exploration]:
    """Apply clicks that are not applied yet; returns the last one applied, and the order they ask for."""
    acts, receipt = rows.new_acts(st.session_state.get(BOARD), history.receipt(BOARD))
    for act in acts:
        match act:
            case ["order", fields.key, str(column), "asc" | "desc" as direction]:
                fields = replace(fields, order=Order(name=column, direction=direction))
    choices = [act for act in acts if clicks.is_filtering(act)]
    if choices:
        page_state = history.current(context)
        for choice in choices:
            page_state = clicks.apply(page_state, choice, context.slicer)
        carry(page_state, fields.data, receipt)
    elif acts:
        history.change(history.current(context).with_view(exploration=fields), {BOARD: receipt})
    return receipt, fields


def follow() -> None:
    """The component's callback; the next run of the screen applies the clicks."""


def carry(
    page_state: PageState, data_field: str, receipt: ActReceipt | None = None, tab: Tab = "cards"
) -> None:
    """Open Audience in that state, with that data field and tab; `receipt` is the click that led there."""
    page_state = page_state.with_view(field=data_field, tab=tab)
    history.change(page_state, {BOARD: receipt} if receipt else {}, page=screens.AUDIENCE)


def board(top: TopValues, numbers: Numbers) -> Table:
    """A row per value: its description, its code if it is mapped, and figures with share and range."""
    frame, key = top_values.frame(top), top.key_field
    in_words = "id" in frame
    columns = [_column(top, key.name, key.description or key.name, not in_words, is_key=True)]
    columns += [Column("id", "ID")] if in_words else []
    for field in top.columns:
        columns.append(_column(top, field.name, title(field, with_unit=True), True, about=field.annotation))
        for name, heading, about in (
            (f"share:{field.name}", "Share, %", "Of the total of all values"),
            (f"off:{field.name}", "±, %", f"{LEVEL} confidence interval: how far off the figure may be"),
        ):
            columns += [Column(name, heading, about=about)] if name in frame else []
    table_rows = [
        Row(_cells(top, dict(zip(frame, record, strict=True)), numbers), ((key.name, value),), (False,))
        for value, record in zip(top.values, frame.itertuples(index=False, name=None), strict=True)
    ]
    label = f"Top values of {key.description or key.name} by {title(top.data_field)}"
    return Table(key.name, label, columns, table_rows, verb="Show in Audience:")


def _column(
    top: TopValues, name: str, title: str, orders: bool, is_key: bool = False, about: str | None = None
) -> Column:
    order: Direction | None = ("asc" if is_key else "desc") if orders else None
    direction = top.by.direction if top.by.name == name else None
    return Column(name, title, is_key=is_key, order=order, sorted=direction, about=about or "")


def _cells(top: TopValues, record: Mapping[Any, Any], numbers: Numbers) -> list[Cell]:
    cells = []
    for name, value in record.items():
        field = next((field for field in top.columns if field.name == name), None)
        if field is not None:
            cells.append(Cell(numbers.plain(value, field)))
        elif isinstance(value, float):
            cells.append(Cell(numbers.number(value, 1)))
        else:
            cells.append(Cell(str(value) if value else NOTHING))
    return cells


@dataclass(frozen=True)
class FieldList:
    """A list of fields, one of which is chosen. `key` stores the choice in the session; `most` rows are seen.

    Whether searching chooses the first field that it finds says `follows_search`: a key field's top values
    are shown while its name is typed, but what is measured changes by a click alone.
    """

    key: str
    what: str
    source: str
    fields: Sequence[Any]
    usual: str
    most: int
    follows_search: bool

    @property
    def list_key(self) -> str:
        return f"{self.key}:list"

    @property
    def taken_key(self) -> str:
        """Where the session stores the last click that was applied."""
        return f"{self.key}:taken"


@st.fragment
def explorer(context: PageContext) -> None:
    """Draw the fields on the left, and the top values of the chosen one on the right."""
    if not context.slicer.key_fields or not context.slicer.data_fields:
        st.info("This slicer has no fields yet.")
        return
    left_side, right_side = st.columns([11, 13], gap="medium")
    with left_side:
        text = st.text_input(
            "Search fields", type="search", placeholder="Search key fields and data fields", key=SEARCH,
            live=True, label_visibility="collapsed",
        )  # fmt: skip
        old = history.current(context).view.exploration
        slicer, where = context.slicer, f"{context.project}/{context.slicer_name}"
        first = next(iter(state.default_split(slicer)), slicer.key_fields[0].name)
        usual = slicer.data_fields[0].name
        lists = (
            FieldList(f"key_field:{where}", "Key field", "Mapping", slicer.key_fields, first, 8, True),
            FieldList(f"data_field:{where}", "Data field", "Formula", slicer.data_fields, usual, 6, False),
        )
        with st.container(key="fields"):
            key, data = map(_choose, lists, (text or "", text or ""), (old.key, old.data))
        # Put the chosen fields into the link, and remember them for the next visit.
        fields = Exploration(key, data, old.order if (key, data) == (old.key, old.data) else None)
        for field_list, name in zip(lists, (key, data), strict=True):
            st.session_state[field_list.key] = name
        is_usual = (key, data) == (first, usual)
        if fields != old and not (old == Exploration() and is_usual):
            history.change_view(context, exploration=fields)
    with right_side:
        _answer(context, fields)


def _choose(field_list: FieldList, text: str, old: str) -> str:
    """Draw the fields that the search finds; returns the one chosen by a click, by the link, or before."""
    matches = screen.matching(field_list.fields, text)
    name = old or st.session_state.get(field_list.key, field_list.usual)
    name = screen.chosen_field(matches, name) if field_list.follows_search else name
    if not matches:
        st.caption(f"None of the {len(field_list.fields)} {plain(field_list.what.lower())}s matches.")
        return name
    receipt = st.session_state.get(field_list.taken_key, NO_RECEIPT)
    acts, receipt = listing.new_acts(st.session_state.get(field_list.list_key), receipt)
    names = {field.name for field in field_list.fields}
    keys = [act.key for act in acts if isinstance(act, OpenRow) and act.key in names]
    name = keys[-1] if keys else name
    st.session_state[field_list.taken_key] = receipt
    of_all = f" of {len(field_list.fields)}" if len(matches) < len(field_list.fields) else ""
    columns = (
        ListColumn("field", f"{field_list.what} ({len(matches)}{of_all})", 10.0),
        ListColumn("type", "Type", 7.5),
        ListColumn("source", field_list.source, 9.0, keeps_end=True),
        ListColumn("name", "Name", 9.5, keeps_end=True),
    )
    list_rows = [
        ListRow(field.name, [ListCell(text) for text in screen.row(field)], is_open=field.name == name)
        for field in matches
    ]
    label = f"{field_list.what}s of the slicer: choose one"
    page = Listing(label, columns, list_rows, len(list_rows), most_in_sight=field_list.most)
    listing.draw(field_list.list_key, page, receipt, follow)
    return name


def _answer(context: PageContext, fields: Exploration) -> None:
    """The chosen fields and the top values; a click on a value carries it to Audience."""
    receipt, fields = catch_up(context, fields)
    key, data = context.slicer.key_field(fields.key), context.slicer.data_field(fields.data)
    with st.container(horizontal=True, vertical_alignment="center"):
        name = key.description or key.name
        st.header(f"{plain(name)} by {plain(title(data))}", anchor=False, width="stretch")
        if st.button(f"Split by {plain(name)} in Audience", icon=":material/call_split:", key="split_by_it"):
            carry(history.current(context).with_query(split_by=(key.name,)), data.name, tab="split")
    with problems.report_errors("The top values"):
        query = screen.last_days(context)
        estimate = partial(ask.estimate, context)
        top = top_values.top_values(estimate, query, context.slicer, key.name, data.name, fields.order)
        numbers = Numbers.of(reader.locale())
        shown_days = days(*named_days.days_of(query, context.slicer))
        sentence = plain(precision.summary(top.answer, top.columns, numbers))
        st.caption(f"{top_values.count_label(top, numbers)} · {shown_days} · {sentence}")
        for field in (key, data):
            if facts := screen.about(field):
                st.caption(f"**{plain(field.description or field.name)}** {plain(' · '.join(facts))}")
        codes = precision.codes(context.slicer, [key.name])
        for note in (*codes, *precision.optional_field_note(context.slicer, data)):
            st.caption(plain(note))
        if top.order != top.data_field and top.by.name == top.order.name:
            st.caption(
                f"Ordered by {plain(title(top.order))}: {plain(title(data))} is a formula, and formulas "
                "are highest in the smallest groups."
            )
        if top.values:
            rows_mount.draw(BOARD, [board(top, numbers)], receipt, follow)
        else:
            st.info("No data in these days.", icon=":material/info:")
        current_focus.refine("top_values")
