"""The rows of the list on screen and the chosen ones, as one value in the session.

A run may be broken off wherever the session is touched, so that several writes could keep half of a click.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import streamlit as st

from lib.ui.deals.columns import as_text
from lib.ui.deals.rows import KINDS, DealRow, Key
from lib.ui.kit import notes
from lib.ui.kit.listing import Opened, Ordered, Ticked, new_acts
from lib.ui.kit.rows import NOTHING_TAKEN, Taken

OPEN, SAID = "open", notes.SAID
FIND, KIND, FILTER, ALSO = "find", "deals_kind", "deals_{}", "also_{}"
CSV_MENU = "deals_csv_menu"
PLURALS = {entity: f"{word}s" for entity, word in KINDS.items()}
ADDRESS = re.compile(r"(supply_deals|demand_deals)-([1-9][0-9]{0,15})")


def opened() -> tuple[str, int] | None:
    """The package or deal that is open, by the URL."""
    match = ADDRESS.fullmatch(st.query_params.get(OPEN, ""))
    return (match[1], int(match[2])) if match else None


VIEW, LIST, ORDER, PAGE = "deals_view", "deals_list", "deals_order", "deals_page"


@dataclass(frozen=True)
class ListView:
    """The rows drawn, the rows chosen (by key, across pages), and the last act taken.

    `all_of` is the question all of whose rows are chosen, drawn or not; else None.
    """

    drawn: dict[str, DealRow] = field(default_factory=dict)
    ticked: dict[str, DealRow] = field(default_factory=dict)
    all_of: object = None
    taken: Taken = NOTHING_TAKEN

    @property
    def keys(self) -> frozenset[Key]:
        """The keys of the chosen rows."""
        return frozenset(row.key for row in self.ticked.values())


def current() -> ListView:
    """The view, with clicks applied that no callback has taken yet."""
    return catch_up()


def catch_up() -> ListView:
    """Apply new clicks once, in one write. A callback, and the first step of a run."""
    before: ListView = st.session_state.get(VIEW) or ListView()
    acts, taken = new_acts(st.session_state.get(LIST) or {}, before.taken)
    if not acts:
        return before
    after = replace(before, taken=taken)
    order, opened = "", ""
    for act in acts:
        match act:
            case Ticked(keys, is_ticked):
                after = _tick(after, keys, is_ticked)
            case Ordered(column, direction):
                order = f"{'-' if direction == 'desc' else ''}{column}"
            case Opened(key):
                opened = key
    st.session_state[VIEW] = after
    if order:
        st.query_params[ORDER] = order
        st.query_params.pop(PAGE, None)
    if opened:
        st.query_params[OPEN] = opened
    return after


def note_rows(view: ListView, rows: Iterable[DealRow]) -> None:
    """Store the rows on screen, so that clicks can be matched by key."""
    shown = {as_text(row.key): row for row in rows}
    ticked = {key: shown.get(key, row) for key, row in view.ticked.items()}
    if shown != view.drawn or ticked != view.ticked:
        st.session_state[VIEW] = replace(view, drawn=shown, ticked=ticked)


def choose_all(question: object) -> None:
    """Choose all results of this query. A callback."""
    st.session_state[VIEW] = replace(current(), all_of=question)


def choose_none() -> None:
    """Choose nothing. A callback."""
    st.session_state[VIEW] = replace(current(), ticked={}, all_of=None)


def choose_only(rows: dict[str, DealRow]) -> None:
    """Choose these rows, by their keys as text. A callback."""
    st.session_state[VIEW] = replace(current(), ticked=rows, all_of=None)


def start_over(order: str | None = None) -> None:
    """Go to the first page of another search, with nothing chosen; with `order` in that order. A callback."""
    choose_none()
    st.query_params.pop(PAGE, None)
    if order:
        st.query_params[ORDER] = order
    elif order is not None:
        st.query_params.pop(ORDER, None)


def turn(to: int) -> Callable[[], None]:
    """A callback that turns to a page."""

    def turned() -> None:
        if to:
            st.query_params[PAGE] = str(to + 1)
        else:
            st.query_params.pop(PAGE, None)

    return turned


def _tick(view: ListView, keys: Iterable[str], is_ticked: bool) -> ListView:
    known = {key: view.drawn[key] for key in keys if key in view.drawn}
    if is_ticked:
        return replace(view, ticked={**view.ticked, **known})
    return replace(
        view, ticked={key: row for key, row in view.ticked.items() if key not in known}, all_of=None
    )
