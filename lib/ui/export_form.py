"""What a file shall hold beside the question: its format, data fields, descriptions, total, data filters."""

from typing import Any, NamedTuple

import streamlit as st

from lib.reporting.lenient import Flag
from lib.reporting.models import EXTENSIONS, AudienceQuery, DataFilter, ExportFormat, ExportQuery
from lib.ui import data_filters, link, shortfalls, split_picker
from lib.ui.frame import Here
from lib.ui.numbers import title

FORMATS: dict[ExportFormat, str] = {
    "csv": "Text with commas, numbers as they are shown. Opens everywhere.",
    "xlsx": "A workbook for Excel and its like: text stays text, numbers are numbers.",
    "xls": "A workbook for older programs, with further sheets from 65,536 rows on.",
    "tsv": "Text with tabs, numbers as they are shown.",
    "tsv2": "For programs: names of fields, raw values, all digits.",
}
PLAIN_FORMATS: dict[ExportFormat, str] = {
    "csv": "Text with commas. Opens everywhere.",
    "xls": "A workbook for Excel and its like.",
    "tsv": "Text with tabs.",
    "tsv2": "Text with tabs, in this service's second manner.",
}
MAPPINGS: dict[str, Flag | None] = {"usual": None, "with": 1, "without": 0}
SAME = ({*AudienceQuery.model_fields} & {*ExportQuery.model_fields}) - {
    "data_fields",
    "include_mappings",
    "limit",
    "offset",
}


class Wish(NamedTuple):
    """The file that the form asks for, and what is still wrong in the form."""

    query: ExportQuery
    problem: str | None


def draw(here: Here, asked: AudienceQuery) -> Wish:
    """The form. What is chosen stays while the session lasts."""
    split_picker.draw(here, label_visibility="visible")
    chosen = _data_fields(here, asked) if here.slicer.knows("data_fields") else ()
    export_format = _format(here)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        mappings = _mappings(len(asked.split_by))
        total = st.toggle("Total row", key="export_total", persist_state="session")
    wanted = data_filters.draw(here)
    chosen_here = {
        "export_format": export_format,
        "data_fields": chosen or None,
        "include_mappings": mappings,
        "include_total": int(total),
    }
    query = _query(here, asked, wanted.filters).model_copy(update=chosen_here)
    return Wish(query, "One value on the left is no number yet." if wanted.has_problem else None)


def _query(here: Here, asked: AudienceQuery, filters: tuple[DataFilter, ...]) -> ExportQuery:
    """The question without what its service does not know, and whole: a file has no pages."""
    unknown = {*EXTENSIONS} - {*here.slicer.extensions}
    same: dict[str, Any] = asked.model_dump(include=SAME - unknown)
    return ExportQuery.model_validate(same | {"export_format": "csv", "data_filters": filters})


def _data_fields(here: Here, asked: AudienceQuery) -> tuple[str, ...]:
    """Which data fields, in the order chosen; those that Audience shows, where some were chosen there."""
    names = {field.name: title(field) for field in here.slicer.data_fields}
    there = asked.data_fields or ()
    picked = st.multiselect(
        "Data fields, in this order",
        list(names),
        default=list(there),
        format_func=lambda name: names[name],
        filter_mode="contains",
        placeholder=f"All {len(names)}, in the slicer's order",
        key=f"export_fields:{here.project}/{here.slicer_name}:{link.joined(there)}",
        persist_state="session",
    )
    return tuple(picked)


def _format(here: Here) -> ExportFormat:
    words = PLAIN_FORMATS if shortfalls.is_plain(here.slicer) else FORMATS
    known = [name for name in words if name != "xlsx" or here.slicer.knows("xlsx")]
    picked = st.segmented_control(
        "Format", known, default="csv", required=True, key="export_format", persist_state="session"
    )
    chosen = picked if picked in known else known[0]
    st.caption(words[chosen])
    return chosen


def _mappings(split_fields: int) -> Flag | None:
    """Whether descriptions come with; left alone it follows the number of key fields, and says so."""
    usual = "with" if split_fields == 1 else "without"
    words = {"usual": f"Usual ({usual})", "with": "With", "without": "Without"}
    picked = st.segmented_control(
        "Descriptions beside IDs",
        list(words),
        default="usual",
        required=True,
        format_func=lambda choice: words[choice],
        key="export_mappings",
        help="Usual: with them for one key field, without for several or none.",
        persist_state="session",
    )
    return MAPPINGS[picked or "usual"]
