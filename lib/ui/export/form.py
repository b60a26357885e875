"""The form of Export: format, data fields, descriptions, total and data filters of the file."""

from typing import Any, Literal, NamedTuple

import streamlit as st

from lib.reporting.formats import FORMATS, ExportFormat
from lib.reporting.lenient import Flag
from lib.reporting.matches import COMPARE, DataMatch
from lib.reporting.models import EXTENSIONS, AudienceQuery, DataFilter, ExportQuery
from lib.ui.charts.numbers import title
from lib.ui.kit import amounts
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import focus, link, precision, question, split_rows

MATCHES: tuple[DataMatch, ...] = (*COMPARE,)
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}
LINES, USUAL_MATCH = "data_filters", ">="
ANY = amounts.Limits(least=-(10**15), below=10**15, decimals=15)


class ChosenFilters(NamedTuple):
    """The complete filters, and whether any value is not a number."""

    filters: tuple[DataFilter, ...]
    has_problem: bool


def draw_data_filters(context: PageContext) -> ChosenFilters:
    """Draw one line per filter; filters without a value are ignored. The input is kept for the session.

    A value counts while it is typed: whoever clicks Download straight after gets the file with it.
    """
    where = f"{LINES}:{context.project}/{context.slicer_name}"
    lines: list[int] = st.session_state.setdefault(where, [])
    with st.container(gap="xsmall"):
        found = [_line(context, where, line) for line in lines]
        st.button(
            "Keep only rows where…",
            icon=":material/add:",
            type="tertiary",
            key=f"{where}:add",
            on_click=_add,
            args=(where,),
        )
    filters = tuple(wanted for wanted in found if isinstance(wanted, DataFilter))
    return ChosenFilters(filters, has_problem="wrong" in found)


def _line(context: PageContext, where: str, line: int) -> DataFilter | Literal["unused", "wrong"]:
    key = f"{where}:{line}"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name, match = _field(context, f"{key}:name"), _match(f"{key}:match")
        text = _text(f"{key}:value").strip()
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            key=f"{key}:remove",
            help="Remove this data filter",
            on_click=_remove,
            args=(where, line),
        )
    if wrong := amounts.fault(text, limits=ANY):
        beside([wrong])
        return "wrong"
    value = amounts.read(text, ANY)
    return "unused" if value is None else DataFilter(name=name, match=match, value=float(value))


def _field(context: PageContext, key: str) -> str:
    names = {field.name: title(field, with_unit=True) for field in context.slicer.data_fields}
    return st.selectbox(
        "Data field",
        list(names),
        format_func=lambda name: names[name],
        key=key,
        label_visibility="collapsed",
        persist_state="session",
    )


def _match(key: str) -> DataMatch:
    return st.selectbox(
        "Match",
        MATCHES,
        index=MATCHES.index(USUAL_MATCH),
        format_func=lambda match: SIGNS.get(match, match),
        key=key,
        label_visibility="collapsed",
        width=72,
        persist_state="session",
    )


def _text(key: str) -> str:
    return st.text_input(
        "Value",
        placeholder="Value",
        key=key,
        label_visibility="collapsed",
        live=True,
        width=110,
        persist_state="session",
    )


def _add(where: str) -> None:
    lines: list[int] = st.session_state[where]
    st.session_state[where] = [*lines, max(lines, default=0) + 1]


def _remove(where: str, line: int) -> None:
    st.session_state[where] = [other for other in st.session_state[where] if other != line]


MAPPINGS: dict[str, Flag | None] = {"usual": None, "with": 1, "without": 0}
SAME = ({*AudienceQuery.model_fields} & {*ExportQuery.model_fields}) - {
    "data_fields",
    "include_mappings",
    "limit",
    "offset",
}


class Wish(NamedTuple):
    """The file requested in the form, and the errors that are left in the form."""

    query: ExportQuery
    problem: str | None


def draw(context: PageContext, asked: AudienceQuery) -> Wish:
    """Draw the form. The choices are kept for the session."""
    split_rows.draw(context, label_visibility="visible")
    chosen = _data_fields(context, asked) if context.slicer.knows("data_fields") else ()
    export_format = _format(context)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        mappings = _mappings(len(asked.split_by))
        total = st.toggle("Total row", key="export_total", persist_state="session")
        escapes = _escapes(context, export_format)
        full_digits = _full_digits(context, export_format)
    wanted = draw_data_filters(context)
    chosen_here = {
        "export_format": export_format,
        "data_fields": chosen or None,
        "include_mappings": mappings,
        "include_total": int(total),
        "escape_formulas": int(escapes),
        "full_digits": int(full_digits),
    }
    query = _query(context, asked, wanted.filters).model_copy(update=chosen_here)
    return Wish(query, "One value on the left is not a number yet." if wanted.has_problem else None)


def _query(context: PageContext, query: AudienceQuery, filters: tuple[DataFilter, ...]) -> ExportQuery:
    """The question without extensions that its service lacks, in Audience's order, and without paging."""
    unknown = {*EXTENSIONS} - {*context.slicer.extensions}
    same: dict[str, Any] = query.model_dump(include=SAME - unknown)
    if "order_by" not in unknown and query.split_by and context.slicer.data_fields:
        same["order_by"] = focus.of(context).order
    return ExportQuery.model_validate(same | {"export_format": "csv", "data_filters": filters})


def _data_fields(context: PageContext, query: AudienceQuery) -> tuple[str, ...]:
    """Draw the picker of data fields; it starts with those chosen on Audience, if any."""
    names = {field.name: title(field) for field in context.slicer.data_fields}
    is_chosen = question.view(context).field is not None or query.data_fields
    there = focus.of(context).fields if is_chosen else ()
    picked = st.multiselect(
        "Data fields, in this order",
        list(names),
        default=list(there),
        format_func=lambda name: names[name],
        filter_mode="contains",
        placeholder=f"All {len(names)}, in the slicer's order",
        key=f"export_fields:{context.project}/{context.slicer_name}:{link.join_texts(there)}",
        persist_state="session",
    )
    return tuple(picked)


def _format(context: PageContext) -> ExportFormat:
    is_plain = precision.is_plain(context.slicer)
    words = {name: one.plain_words if is_plain else one.words for name, one in FORMATS.items()}
    known = [
        name
        for name, one in FORMATS.items()
        if words[name] and (one.plain_words or context.slicer.knows(name))
    ]
    picked = st.segmented_control(
        "Format", known, default="csv", required=True, format_func=plain, key="export_format",
        persist_state="session",
    )  # fmt: skip
    chosen = picked if picked in known else known[0]
    st.caption(plain(words[chosen]))
    return chosen


def _escapes(context: PageContext, export_format: ExportFormat) -> bool:
    """Draw the switch for the escape of formulas, which formats of text have."""
    if not context.slicer.knows("escape_formulas") or FORMATS[export_format].dialect is None:
        return True
    return st.toggle(
        "Escape formulas", value=True, key="export_escape", persist_state="session",
        help="An apostrophe before text that a spreadsheet would run as a formula. Turn it off for programs.",
    )  # fmt: skip


def _full_digits(context: PageContext, export_format: ExportFormat) -> bool:
    """Draw the switch for all digits, which csv and tsv have."""
    if not context.slicer.knows("full_digits") or export_format not in ("csv", "tsv"):
        return False
    return st.toggle(
        "Full digits", key="export_digits", persist_state="session",
        help="Off: figures are rounded to the decimals of their field, as on screen.",
    )  # fmt: skip


def _mappings(split_fields: int) -> Flag | None:
    """Draw the switch for descriptions; its default depends on the number of key fields, and is shown."""
    usual = "with" if split_fields == 1 else "without"
    words = {"usual": f"Default ({usual})", "with": "With", "without": "Without"}
    picked = st.segmented_control(
        "Descriptions next to IDs",
        list(words),
        default="usual",
        required=True,
        format_func=lambda choice: words[choice],
        key="export_mappings",
        help="Default: on for one key field, off for several or none.",
        persist_state="session",
    )
    return MAPPINGS[picked or "usual"]
