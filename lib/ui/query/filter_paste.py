"""A pasted list of values: finds which of them occur in the data; nothing is added without a click."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote

import streamlit as st

from lib.reporting.models import AudienceQuery
from lib.ui.charts.numbers import NOT_SET, Numbers
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import filters, history, values
from lib.wire.filters import Match

WIDTH, HEIGHT, MOST_NAMES, MAX_LENGTH = 380, 120, 20, 100_000
MOST_CHARACTERS = 15_000  # of the values of one key field, as the address has them


@dataclass(frozen=True)
class PastedValues:
    """Values found in the data, pasted texts that were not found, and whether that is certain."""

    matches: tuple[str, ...]
    unknown: tuple[str, ...]
    is_exact: bool = True


def draw(context: PageContext, prefix: str, name: str) -> None:
    """Draw the field to paste into, then the values found with buttons to keep or leave them out."""
    query, key = history.current(context).query, _key(prefix, name)
    text = st.text_area(
        "Values, one per line or separated by commas", key=key, height=HEIGHT, width=WIDTH,
        placeholder="Codes or descriptions",
    )  # fmt: skip
    st.button("Check values", icon=":material/playlist_add_check:", key=f"{key}_check")
    if len(text or "") > MAX_LENGTH:
        count = Numbers.of(st.context.locale).number
        st.error(
            f"The list is too long: {count(len(text or ''))} characters, {count(MAX_LENGTH)} at most. "
            "Nothing was added: paste part of it.",
            icon=":material/error:",
        )
        return
    if not (text or "").strip():
        return
    with problems.report_errors("The values", effect="What you pasted is kept."):
        paste = check_paste(context, query, name, text or "")
        _say(paste)
        _ways(context, query, key, name, paste)


def check_paste(context: PageContext, query: AudienceQuery, name: str, text: str) -> PastedValues:
    """The pasted values, looked up in the data of the question's days. Raises the service's errors."""
    lines = [_texts(line) for line in text.splitlines() if line.strip()]
    codes = {part: "" if part == NOT_SET else part for line in lines for part in line}
    codes_by_text, is_exact = values.look_up(context, query, name, dict.fromkeys(codes.values()))
    matches: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for whole, *parts in lines:
        for part in [whole] if codes[whole] in codes_by_text or not parts else parts:
            codes_of_line = codes_by_text.get(codes[part])
            (matches if codes_of_line else unknown).update(dict.fromkeys(codes_of_line or (part,)))
    return PastedValues(tuple(matches), tuple(unknown), is_exact)


def _texts(line: str) -> list[str]:
    """The whole line, then its parts between tabs and commas (not commas within double quotes)."""
    cells = (next(csv.reader([part], skipinitialspace=True), []) for part in line.split("\t"))
    parts = [cell.strip() for row in cells for cell in row if cell.strip()]
    whole = line.strip()
    return parts if parts == [whole] or len(parts) == 1 else [whole, *parts]


def _say(paste: PastedValues) -> None:
    numbers, count = Numbers.of(st.context.locale), len(paste.matches)
    st.caption(f"{numbers.number(count)} value{'s' * (count != 1)} found in the data of these days.")
    if paste.unknown:
        names = ", ".join(map(plain, paste.unknown[:MOST_NAMES]))
        more = len(paste.unknown) - MOST_NAMES
        rest = f" and {numbers.number(more)} more" if more > 0 else ""
        where = "" if paste.is_exact else ", in a sample of the records"
        st.warning(
            f"{numbers.number(len(paste.unknown))} not found{where}: {names}{rest}",
            icon=":material/help:",
        )


def _ways(context: PageContext, query: AudienceQuery, key: str, name: str, paste: PastedValues) -> None:
    with_unknown = bool(paste.unknown) and st.checkbox("Add unknown values too", key=f"{key}_unknown")
    new_values = (*paste.matches, *(paste.unknown if with_unknown else ()))
    fit = _fit(filters.values(query, name), new_values)
    if len(fit) < len(new_values):
        st.warning(
            f"{len(fit):,} of {len(new_values):,} fit into the link. The others stay here.",
            icon=":material/link:",
        )
    rest = [text for text in (*paste.matches, *paste.unknown) if text not in set(fit)]
    ways: tuple[tuple[str, Match, Literal["primary", "secondary"]], ...] = (
        ("Include", "equals", "primary"),
        ("Exclude", "not equals", "secondary"),
    )
    with st.container(horizontal=True):
        for label, match, kind in ways:
            st.button(
                f"{label} {len(fit):,}",
                key=f"{key}_{label.lower()}",
                type=kind,
                disabled=not fit,
                on_click=_take,
                args=(context, key, name, fit, rest, match),
            )


def _fit(existing: Iterable[str], new_values: Iterable[str]) -> tuple[str, ...]:
    """As many of the values as fit into the link, beside those already chosen."""
    space = MOST_CHARACTERS - sum(len(quote(value)) + 1 for value in existing)
    fit = []
    for value in new_values:
        space -= len(quote(value)) + 1
        if space < 0:
            break
        fit.append(value)
    return tuple(fit)


def _take(
    context: PageContext, key: str, name: str, new_values: tuple[str, ...], rest: list[str], match: Match
) -> None:
    """Add these values to the filter; values that are not added stay in the field."""
    st.session_state[key] = "\n".join(_quote(text) for text in rest)
    st.session_state[f"{key}_unknown"] = False
    codes = ["" if value == NOT_SET else value for value in new_values]
    page_state = history.current(context)
    history.push(replace(page_state, query=filters.gather(page_state.query, name, codes, match)))
    st.rerun()


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _key(prefix: str, name: str) -> str:
    return f"{prefix}_pasted_{name}"
