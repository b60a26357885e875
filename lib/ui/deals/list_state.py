"""The list: what is asked of the service, and the rows on screen and chosen.

Rows are one value in the session: a run may be broken off wherever the session is touched, so that several
writes could keep half of a click.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from lib.deals import queries
from lib.deals.abilities import Abilities
from lib.deals.fields import DEALS, SUPPLY
from lib.figures.deals.deal_names import KINDS
from lib.figures.rows import NO_RECEIPT, ActReceipt
from lib.slicers.models import Direction
from lib.ui.deals.deal_rows import DEAL_COLUMNS, DealRow, Key, as_text
from lib.ui.kit import address, notes
from lib.ui.kit.listing import OpenRow, SelectRows, SortBy, new_acts

PAGE = 50
Filters = tuple[tuple[str, tuple[str, ...]], ...]
NEWEST: tuple[str, Direction] = ("id", "desc")
REPORT = "report"
OPEN, NOTE = "open", notes.NEXT_NOTE
FIND, KIND, FILTER = "find", "deals_kind", "deals_{}"
COLUMNS = {SUPPLY: "package_columns", DEALS: "deal_columns"}
CSV_MENU = "deals_csv_menu"
PLURALS = {entity: f"{word}s" for entity, word in KINDS.items()}
ADDRESS = re.compile(r"(supply_deals|demand_deals)-([1-9][0-9]{0,15})")
VIEW, LIST, ORDER_PARAM, PAGE_PARAM = "deals_view", "deals_list", "deals_order", "deals_page"


@dataclass(frozen=True)
class ListSearch:
    """One page of one kind: `meanings` as the service's `meaning`, `filters` by name.

    Among them may be `report`, which leaves out nothing: it says what health is read from.
    """

    entity: str = SUPPLY
    text: str = ""
    meanings: tuple[str, ...] = ()
    filters: Filters = ()
    order: tuple[str, Direction] = NEWEST
    page: int = 0

    @property
    def is_narrowed(self) -> bool:
        return bool(self.text or any(values for name, values in self.filters if name != REPORT))

    @property
    def conditions(self) -> Hashable:
        """What is found, without order and page; by it a choice of everything is known."""
        return self.entity, self.text, self.meanings, self.filters

    @property
    def found_by(self) -> dict[str, Any]:
        """Search and filters, as the client's `list` takes them."""
        filters = {name: list(values) for name, values in self.filters if values}
        meaning = {"meaning": list(self.meanings)} if self.meanings else {}
        return ({"search": self.text} if self.text else {}) | meaning | filters

    @property
    def ordering(self) -> str:
        """As the client's `list` takes it; equals go by id, the newest first."""
        name, direction = self.order
        first = f"{'-' if direction == 'desc' else ''}{name}"
        return first if name == "id" else f"{first},-id"

    def of_kind(self, entity: str, does: Abilities) -> "ListSearch":
        """The same search among the other kind."""
        filters = tuple(
            (name, values) for name, values in self.filters if name in available_filters(entity, does)
        )
        return replace(self, entity=entity, filters=filters, order=NEWEST, page=0)


def available_filters(entity: str, does: Abilities) -> tuple[str, ...]:
    """The filters of a list, as far as the service has them."""
    needs = ("nothing", "links") if does.finds else ("nothing",)
    return tuple(row.name for need in needs for row in DEAL_COLUMNS if row.filters.get(entity) == need)


def orders(entity: str, does: Abilities, has_health: bool = False) -> frozenset[str]:
    """The orders of a list, as far as the service has them, and has health to order by for this person."""
    abilities = {None: False, "nothing": True, "links": does.finds, "report": has_health}
    return frozenset(row.name for row in DEAL_COLUMNS if abilities[row.orders.get(entity)])


def read_order(text: str, orders: frozenset[str]) -> tuple[str, Direction]:
    """`-price` → by price, falling; the newest first for what is none of these orders."""
    name, direction = text.removeprefix("-"), "desc" if text.startswith("-") else "asc"
    return (name, direction) if name in orders else NEWEST  # type: ignore[return-value]


def search_words(text: str) -> Iterator[str]:
    """The words of a search that may stand for places; no phrase does."""
    yield from dict.fromkeys(
        word for word in queries.terms(text) if len(word) > 2 and not re.search(r"[\s:]", word)
    )


def active_filters(filters: Mapping[str, list[str]], entity: str, does: Abilities) -> Filters:
    """The filters that this list has, of those that are set."""
    return tuple((name, tuple(filters.get(name) or ())) for name in available_filters(entity, does))


def open_key(param: str = OPEN, pattern: re.Pattern[str] = ADDRESS) -> Key | None:
    """The package or deal that is open, by the URL."""
    match = pattern.fullmatch(address.read(param))
    return (match[1], int(match[2])) if match else None


@dataclass(frozen=True)
class ListView:
    """The rows drawn, the rows chosen (by key, across pages), and the last act taken.

    `all_of` are the conditions all of whose rows are chosen, drawn or not; else None.
    """

    visible_rows: dict[str, DealRow] = field(default_factory=dict)
    selection: dict[str, DealRow] = field(default_factory=dict)
    all_of: object = None
    receipt: ActReceipt = NO_RECEIPT

    @property
    def keys(self) -> frozenset[Key]:
        return frozenset(row.key for row in self.selection.values())


def current() -> ListView:
    """The view, with new clicks applied once, in one write. A callback, and the first step of a run."""
    before: ListView = st.session_state.get(VIEW) or ListView()
    acts, receipt = new_acts(st.session_state.get(LIST) or {}, before.receipt)
    if not acts:
        return before
    after = replace(before, receipt=receipt)
    order, key_to_open = "", ""
    for act in acts:
        match act:
            case SelectRows(keys, is_ticked):
                rows = {key: after.visible_rows[key] for key in keys if key in after.visible_rows}
                rest = {key: row for key, row in after.selection.items() if key not in rows}
                if is_ticked:
                    after = replace(after, selection={**after.selection, **rows})
                else:
                    after = replace(after, selection=rest, all_of=None)
            case SortBy(column, direction):
                order = f"{'-' if direction == 'desc' else ''}{column}"
            case OpenRow(key):
                key_to_open = key
    st.session_state[VIEW] = after
    if order:
        address.write(ORDER_PARAM, order)
        address.write(PAGE_PARAM)
    if key_to_open:
        address.write(OPEN, key_to_open)
    return after


def note_rows(view: ListView, rows: Iterable[DealRow]) -> None:
    """Store the rows on screen, so that clicks can be matched by key."""
    row_of = {as_text(row.key): row for row in rows}
    selection = {key: row_of.get(key, row) for key, row in view.selection.items()}
    if row_of != view.visible_rows or selection != view.selection:
        st.session_state[VIEW] = replace(view, visible_rows=row_of, selection=selection)


def choose_all(conditions: Hashable) -> None:
    """Choose all that these conditions find. A callback."""
    st.session_state[VIEW] = replace(current(), all_of=conditions)


def choose_none() -> None:
    """Choose nothing. A callback."""
    st.session_state[VIEW] = replace(current(), selection={}, all_of=None)


def choose_only(rows: dict[str, DealRow]) -> None:
    """Choose these rows, by their keys as text. A callback."""
    st.session_state[VIEW] = replace(current(), selection=rows, all_of=None)


def start_over(order: str | None = None) -> None:
    """Go to the first page of another search, with nothing chosen; with `order` in that order. A callback.

    A row that was ticked just after, while the search was on its way, comes with it and stays chosen.
    """
    before: ListView = st.session_state.get(VIEW) or ListView()
    st.session_state[VIEW] = replace(before, selection={}, all_of=None)
    address.write(PAGE_PARAM)
    if order is not None:
        address.write(ORDER_PARAM, order)


def turn(to: int) -> None:
    """Turn to a page. A callback."""
    address.write(PAGE_PARAM, str(to + 1) if to else "")
