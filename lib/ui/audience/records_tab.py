"""The tab of rows: the records behind a value, a point of the chart or the whole question, and their file."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from lib.figures.caches import SessionCache
from lib.figures.numbers import title
from lib.figures.query import ask, filters, values
from lib.figures.query.focus import Focus
from lib.figures.query.view_parts import RecordsOf
from lib.reporting.answers.records import RecordColumn, RecordTable
from lib.reporting.files.formats import FORMATS
from lib.reporting.models import ExportFormat, RecordsQuery
from lib.slicers import formulas
from lib.slicers.granularities import SPAN_KEY_FIELDS, TIME_KEY_FIELDS
from lib.slicers.models import DataField, Order
from lib.ui.audience import overview_controls
from lib.ui.kit import downloads, problems, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.query import current_focus, export_menu, history, page_clicks
from lib.wire.filters import Filter
from lib.wire.text import straight

COLUMNS, ORDER, DOWNLOAD = "records_columns", "records_order", "records_download"
AVAILABLE, MOST = "records_available", 20
LATEST, EARLIEST, HEIGHT = "", "asc", 420
FILES: tuple[ExportFormat, ...] = ("csv", "xlsx")


@st.fragment(parallel=True)
def draw(context: PageContext) -> None:
    """Draw the tab: whose rows these are, their columns and order, and the table."""
    page_clicks.catch_up(context)
    focus = current_focus.current(context)
    with st.container(key="records_tab", gap="xsmall"), problems.report_errors("The rows"):
        if not context.slicer.knows("records"):
            st.caption("The service of this slicer shows no rows.")
            return
        with st.container(horizontal=True, vertical_alignment="center", key="records_tools"):
            st.markdown(plain(whose(focus)), width="stretch")
            if focus.view.records.values:
                show_all = partial(history.change_view, context, records=RecordsOf())
                help = "Show the rows of the whole question"
                widgets.icon_button("All rows", "close", "records_all", show_all, help)
            available = _available(focus)
            columns = _columns(focus, available)
            labels = {LATEST: "Latest first", EARLIEST: "Earliest first"}
            labels |= {
                field.name: f"Most {title(field)} first"
                for field in focus.slicer.data_fields
                if field.name in available
            }
            order: str = st.selectbox(
                "Order", list(labels), format_func=labels.__getitem__, width=220,
                label_visibility="collapsed", persist_state="session",
                key=f"{ORDER}:{context.project}/{context.slicer_name}",
            )  # fmt: skip
            query = records_query(focus, columns, order)
            records = context.reporting.records(query, focus.slicer)
            _download(focus, query)
        if len(records.frame):
            st.dataframe(
                straighten(shown_frame(records)),
                column_config={column.name: _config(column) for column in records.columns}, hide_index=True,
                height=HEIGHT, key="records_table",
            )  # fmt: skip
        st.caption(plain(count_sentence(focus, records)))


def records_query(focus: Focus, columns: tuple[str, ...], order: str) -> RecordsQuery:
    """The query for the rows: the page's question, about the values that were clicked.

    Of a leaderboard, the filters on its own key field don't hold, as in its figures. `order` is a data field,
    the largest first; or LATEST or EARLIEST.
    """
    query, records_of = focus.query, focus.view.records
    page_filters = query.filters
    if records_of.is_card:
        names = {name for name, _ in records_of.values}
        page_filters = tuple(f for f in page_filters if f.name not in names or not filters.is_whole(f))
    own = (Filter(name=name, value=(value,), match="equals") for name, value in records_of.values)
    direction = "asc" if order == EARLIEST else "desc"
    finest_time = next(f.name for f in reversed(focus.slicer.key_fields) if f.name in SPAN_KEY_FIELDS)
    name = finest_time if order in (LATEST, EARLIEST) else order
    return RecordsQuery(
        project_name=query.project_name,
        slicer_name=query.slicer_name,
        start_date=query.start_date,
        end_date=query.end_date,
        timezone=query.timezone,
        filters=(*page_filters, *own),
        any_of=query.any_of,
        columns=columns or None,
        order_by=(Order(name=name, direction=direction),),
        include_mappings=1,
    )


def whose(focus: Focus) -> str:
    """Whose rows these are, in words: `Rows of Country United States, 14 Nov 2026`."""
    parts = []
    for name, value in focus.view.records.values:
        if name in TIME_KEY_FIELDS:
            parts.append(TIME_KEY_FIELDS[name].label(value))
            continue
        descriptions = values.descriptions(focus.context, focus.query, name, (value,))
        parts.append(f"{filters.field(name, focus.slicer)} {filters.value_label(value, descriptions)}")
    return f"Rows of {', '.join(parts)}" if parts else "Rows of this question"


def count_sentence(focus: Focus, records: RecordTable) -> str:
    """How many rows there are, and how many of them are shown."""
    total, rows = (focus.numbers.number(count) for count in (records.records_found, len(records.frame)))
    if not records.records_found:
        return "No row passes."
    return f"{total} row{'s' * (total != '1')}" if total == rows else f"The first {rows} of {total} rows"


def shown_frame(records: RecordTable) -> pd.DataFrame:
    """The frame with texts as screens show them."""

    def straighten_cell(cell: str | list[str]) -> str | list[str]:
        return straight(cell) if isinstance(cell, str) else [straight(text) for text in cell]

    texts = [column.name for column in records.columns if column.kind != "number"]
    return records.frame.assign(**{name: records.frame[name].map(straighten_cell) for name in texts})


def _config(column: RecordColumn) -> Any:
    head = straight(column.description)
    if column.kind == "texts":
        return st.column_config.ListColumn(head)
    if column.kind == "text":
        return st.column_config.TextColumn(head)
    decimals = f"%.{column.decimals}f" if column.decimals else None
    return st.column_config.NumberColumn(head, format=decimals)


def _available(focus: Focus) -> dict[str, RecordColumn]:
    """The columns that records have, as an answer without a choice of columns has them."""
    context = focus.context
    cache = context.cache(AVAILABLE, partial(SessionCache[dict[str, RecordColumn]], ask.SECONDS, MOST))

    def fetch() -> dict[str, RecordColumn]:
        query = records_query(focus, (), LATEST).model_copy(update={"limit": 1, "include_mappings": 0})
        columns = context.reporting.records(query, focus.slicer).columns
        return {column.name: column for column in columns}

    return cache.get((*context.viewer, context.project, context.slicer_name), fetch)


def _columns(focus: Focus, available: Mapping[str, RecordColumn]) -> tuple[str, ...]:
    fields = {field.name: filters.field(field.name, focus.slicer) for field in focus.slicer.key_fields}
    fields |= {
        field.name: title(field) for field in focus.slicer.data_fields if _is_there(field, focus, available)
    }
    fields |= {name: column.description for name, column in available.items() if name not in fields}
    choice = st.multiselect(
        "Columns", list(fields), format_func=fields.__getitem__, placeholder="All columns", width=260,
        key=f"{COLUMNS}:{focus.context.project}/{focus.context.slicer_name}", persist_state="session",
        label_visibility="collapsed", filter_mode="contains",
    )  # fmt: skip
    return tuple(choice)


def _is_there(field: DataField, focus: Focus, available: Mapping[str, RecordColumn]) -> bool:
    """Whether records show a data field: its column, or those of all parts of its formula."""
    if field.name in available or field.formula is None:
        return field.name in available
    parts = formulas.parse(field.formula).fields()
    return all(_is_there(focus.slicer.data_field(name), focus, available) for name in parts)


def _download(focus: Focus, query: RecordsQuery) -> None:
    popover = st.popover(
        "Download", icon=":material/download:", type="tertiary", key=DOWNLOAD, on_change="rerun"
    )
    if not popover.open:
        return
    with popover:
        for export_format in FILES:
            downloads.offer(
                focus.context, f"Download these rows as {export_format.upper()}",
                partial(_file, query.model_copy(update={"export_format": export_format})),
                f"{export_menu.file(focus, 'rows')}.{export_format}", FORMATS[export_format].media_type,
                f"{DOWNLOAD}_{export_format}", icon="table_rows",
            )  # fmt: skip
        overview_controls.draw_chart_files(focus)


def _file(query: RecordsQuery, context: PageContext) -> bytes:
    with context.reporting.records_file(query, context.slicer).content as content:
        return content.read()
