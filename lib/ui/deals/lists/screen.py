"""The screen Lists: domain and app lists, searched by the service; a row opens one."""

import uuid
from typing import Any

import streamlit as st

from lib.ui.charts.numbers import Numbers
from lib.ui.deals import catalogue
from lib.ui.deals.lists import drawer
from lib.ui.deals.lists.drawer import KINDS, OPEN, entries_of
from lib.ui.kit import listing, notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import is_open, report_errors
from lib.ui.kit.rows import NOTHING_TAKEN, Taken
from lib.wire.errors import TrancheError

KIND, FIND, LIST, TAKEN, NEW = "lists_kind", "lists_find", "lists_list", "lists_taken", "lists_new"
TITLES = {"domain_lists": "Domain lists", "app_lists": "App lists"}
MOST = 100
COLUMNS = (
    listing.ListColumn("name", "Name", 24.0),
    listing.ListColumn("price", "Entries", 7.0, is_right=True, on_phone=True),
    listing.ListColumn("seat", "First entries", 34.0, on_phone=True),
    listing.ListColumn("id", "Id", 5.0, is_right=True),
)


def draw(context: PageContext) -> None:
    """Draw the lists of a kind, and the drawer of the open one."""
    with report_errors("The lists", kept="Nothing was changed."):
        does = catalogue.abilities(context)
        if not does.lists:
            st.info("This service has no lists that Tranche can read.", icon=":material/info:")
            return
        if does.refuses:
            st.caption(f":material/lock: {plain(does.refuses)}.")
        _list(context)
    drawer.draw(context)


def _list(context: PageContext) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        entity = st.segmented_control(
            "Kind", list(TITLES), format_func=TITLES.__getitem__, key=KIND, bind="query-params",
            required=True, default="domain_lists", label_visibility="collapsed",
        )  # fmt: skip
        text = st.text_input(
            "Search", type="search", live="200ms", key=FIND, bind="query-params", placeholder="Name or id",
            label_visibility="collapsed",
        )  # fmt: skip
        _new(context, entity)
    if drawer.open_list() is None:
        notes.draw()
    search = {"search": text} if text else {}
    page = context.deals.list(KINDS[entity], limit=MOST, ordering="name", **search)
    if not page.results:
        st.info("No lists match." if text else "There are no lists yet.", icon=":material/list_alt:")
        return
    rows = tuple(_row(entity, one) for one in page.results)
    taken: Taken = st.session_state.get(TAKEN, NOTHING_TAKEN)
    with st.container(key="lists_table"):
        listing.draw(LIST, listing.Listing(TITLES[entity], COLUMNS, rows, page.count), taken, _open)
    if page.count > MOST:
        numbers = Numbers.of(st.context.locale)
        st.caption(f"The first {MOST:d} of {numbers.number(page.count)}. Search to find the others.")


def _row(entity: str, one: Any) -> listing.ListRow:
    numbers, entries = Numbers.of(st.context.locale), entries_of(one)
    texts = (one.name or "", numbers.number(len(entries)), ", ".join(entries[:5]), str(one.id))
    return listing.ListRow(f"{entity}-{one.id}", tuple(listing.ListCell(text) for text in texts))


def _open() -> None:
    """Open the row that was clicked last. A callback."""
    acts, taken = listing.new_acts(
        st.session_state.get(LIST) or {}, st.session_state.get(TAKEN, NOTHING_TAKEN)
    )
    opened = [act.key for act in acts if isinstance(act, listing.Opened)]
    if opened:
        st.session_state[TAKEN] = taken
        st.query_params[OPEN] = opened[-1]


def _new(context: PageContext, entity: str) -> None:
    if catalogue.abilities(context).why_not(entity, "create"):
        return
    with st.popover("New list", icon=":material/add:", key=NEW, on_change="rerun"):
        st.text_input("Name", key=f"{NEW}_name", max_chars=200)
        st.button(
            "Create list", type="primary", key=f"{NEW}_create", on_click=_create, args=(context, entity)
        )
        if said := st.session_state.get(f"{NEW}_problem"):
            st.error(plain(said), icon=":material/error:")


def _create(context: PageContext, entity: str) -> None:
    """Create an empty list and open it. A callback."""
    state, kind = st.session_state, KINDS[entity]
    name = (state.get(f"{NEW}_name") or "").strip()
    state.pop(f"{NEW}_problem", None)
    if not name:
        state[f"{NEW}_problem"] = "Type a name."
        return
    fields: dict[str, Any] = {"name": name, drawer.FIELDS[entity]: ()}
    try:
        key = state.setdefault(f"{NEW}_key", str(uuid.uuid4()))
        made = context.deals.create(kind, kind(**fields), key)
    except TrancheError as error:
        if not is_open(error):
            state.pop(f"{NEW}_key", None)
        state[f"{NEW}_problem"] = (
            f"{error.reason.rstrip('.')}. Check the list before you retry."
            if is_open(error)
            else f"{error.reason.rstrip('.')}. Nothing was created."
        )
        return
    state.pop(f"{NEW}_key", None)
    catalogue.forget()
    notes.say(f"{name} is created")
    state[NEW], state[f"{NEW}_name"] = False, ""
    st.query_params[OPEN] = f"{entity}-{made.id}"
