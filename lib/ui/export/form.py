"""The form of Export: format, data fields, descriptions and total of the file."""

from typing import Any

import streamlit as st

from lib.figures.numbers import title
from lib.figures.query import filters, precision
from lib.reporting import links
from lib.reporting.client import for_service
from lib.reporting.files.formats import FORMATS
from lib.reporting.models import AudienceQuery, ExportFormat, ExportQuery
from lib.slicers.models import EXTENSIONS, Order
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import current_focus, history, split_picker
from lib.wire.filters import Flag

OWN = {"data_fields", "include_mappings", "limit", "offset"}
SAME = ({*AudienceQuery.model_fields} & {*ExportQuery.model_fields}) - OWN


def draw(context: PageContext, question: AudienceQuery) -> ExportQuery:
    """Draw the form, and return the file requested. The choices are kept for the session."""
    split_picker.draw(context, label_visibility="visible")
    data_fields = _data_fields(context, question) if context.slicer.knows("data_fields") else ()
    export_format = _format(context)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        mappings = _mappings(len(question.split_by))
        total = st.toggle("Total row", key="export_total", persist_state="session")
        escapes, full_digits = True, False
        if export_format in ("csv", "tsv") and context.slicer.knows("escape_formulas"):
            escapes = st.toggle(
                "Escape formulas", value=True, key="export_escape", persist_state="session",
                help="An apostrophe before text that a spreadsheet would run as a formula.",
            )  # fmt: skip
        if export_format in ("csv", "tsv") and context.slicer.knows("full_digits"):
            full_digits = st.toggle(
                "Full digits", key="export_digits", persist_state="session",
                help="Off: figures are rounded to the decimals of their field, as on screen.",
            )  # fmt: skip
    choices = {
        "export_format": export_format,
        "data_fields": data_fields or None,
        "include_mappings": mappings,
        "include_total": int(total),
        "escape_formulas": int(escapes),
        "full_digits": int(full_digits),
    }
    # Without extensions that the service lacks, in Audience's order, and without paging.
    unknown = {*EXTENSIONS} - {*context.slicer.extensions}
    same: dict[str, Any] = question.model_dump(include=SAME - unknown)
    if "order_by" not in unknown and question.split_by and context.slicer.data_fields:
        same["order_by"] = _order(context, question)
    if "limit" not in unknown and question.split_by:
        choices["limit"] = st.number_input(
            "Rows at most", min_value=1, value=None, step=1, placeholder="All", key="export_limit",
            persist_state="session", width=160,
        )  # fmt: skip
    having = history.current(context).view.data_filters
    export_query = ExportQuery.model_validate(same | {"export_format": "csv", "data_filters": having})
    return for_service(export_query.model_copy(update=choices), context.slicer)


def _order(context: PageContext, query: AudienceQuery) -> tuple[Order, ...]:
    """Draw the choice of the rows' order; it starts with that of Audience."""
    slicer, now = context.slicer, current_focus.current(context).order
    titles = {name: filters.field(name, slicer) for name in query.split_by}
    titles |= {field.name: title(field) for field in slicer.data_fields}
    directions = {"desc": "most first", "asc": "least first"}
    orders = {
        (name, direction): f"{label}, {'A to Z' if name in query.split_by else directions[direction]}"
        for name, label in titles.items()
        for direction in (("asc",) if name in query.split_by else directions)
    }
    usual = (now[0].name, now[0].direction) if now else None
    choice = st.selectbox(
        "Order by", orders, [*orders].index(usual) if usual in orders else None,
        format_func=orders.__getitem__, placeholder="As on Audience", filter_mode="contains",
        key=f"export_order:{context.project}/{context.slicer_name}:{usual}", persist_state="session",
    )  # fmt: skip
    return now if choice is None or choice == usual else (Order(name=choice[0], direction=choice[1]),)


def _data_fields(context: PageContext, query: AudienceQuery) -> tuple[str, ...]:
    """Draw the picker of data fields; it starts with those chosen on Audience, if any."""
    names = {field.name: title(field) for field in context.slicer.data_fields}
    is_chosen = history.current(context).view.field is not None or query.data_fields
    usual = current_focus.current(context).fields if is_chosen else ()
    choice = st.multiselect(
        "Data fields, in this order", list(names), default=list(usual), format_func=lambda name: names[name],
        filter_mode="contains", placeholder=f"All {len(names)}, in the slicer's order",
        key=f"export_fields:{context.project}/{context.slicer_name}:{links.join_texts(usual)}",
        persist_state="session",
    )  # fmt: skip
    return tuple(choice)


def _format(context: PageContext) -> ExportFormat:
    is_plain, knows = precision.is_plain(context.slicer), context.slicer.knows
    labels = {name: format_.plain_words if is_plain else format_.words for name, format_ in FORMATS.items()}
    formats = [name for name in FORMATS if labels[name] and (FORMATS[name].plain_words or knows(name))]
    choice = st.segmented_control(
        "Format", formats, default="csv", required=True, format_func=plain, key="export_format",
        persist_state="session",
    )  # fmt: skip
    format_name = choice if choice in formats else formats[0]
    st.caption(plain(labels[format_name]))
    return format_name


def _mappings(split_fields: int) -> Flag | None:
    """Draw the switch for descriptions, on for one key field and off for others; None where left alone.

    A choice holds for splits of its kind.
    """
    usual = split_fields == 1
    is_on = st.toggle(
        "Descriptions next to IDs", value=usual, key=f"export_mappings_{'one' if usual else 'several'}",
        persist_state="session",
    )  # fmt: skip
    return None if is_on == usual else 1 if is_on else 0
