"""Saved lists: filters, search, order and columns under a name, in a popover beside the list."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.abilities import Abilities
from lib.ui.deals import deal_rows, list_state
from lib.ui.deals.list import show_filter
from lib.ui.deals.list_state import COLUMNS, FILTER, FIND, KIND, PLURALS, available_filters
from lib.ui.kit import address, notes, problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import entries, share
from lib.ui.query.entries import EntryShelf
from lib.views import DealEntry
from lib.wire.errors import TrancheError

POPOVER = "deals_views"
WIDTH = 420
LISTS = EntryShelf(
    "list_", lambda context: context.clients.view_store.deal_lists, "views",
    "Share with everybody who may see deals", "Everybody loses it.",
)  # fmt: skip
OPEN = LISTS.state("open")
Options = Callable[[str], tuple[Sequence[str], Callable[[str], str]]]


def draw(context: PageContext, entity: str, does: Abilities, options: Options) -> None:
    """Draw the popover; its label is the open view, with a mark if the list has changed since.

    `options` are the values of a filter that the person may choose, and their names.
    """
    now = current(entity, does)
    try:
        views = context.clients.view_store.deal_lists.all()
    except TrancheError as error:
        with st.popover("Views", icon=":material/bookmark:", type="tertiary", key=POPOVER):
            problems.show(error, "The saved views", "The list is kept as it was.")
        return
    entry = next((view for view in views if view.id == st.session_state.get(OPEN)), None)
    entry = entry or next((view for view in views if view.body == now), None)
    label = "Views" if entry is None else entries.label(entry, entry.body != now)
    popover = st.popover(label, icon=":material/bookmark:", type="tertiary", key=POPOVER, on_change="rerun")
    if popover.open:
        with popover, st.container(width=WIDTH), problems.report_errors("The saved views"):
            _content(context, views, entry, now, does, options)


def current(entity: str, does: Abilities) -> dict[str, Any]:
    """The list on screen, as it is stored."""
    state = st.session_state
    show = state.get(show_filter.KEY)
    filters = {name: [*(state.get(FILTER.format(name)) or ())] for name in available_filters(entity, does)}
    return {
        "kind": entity,
        "find": state.get(FIND) or "",
        "filters": {name: values for name, values in filters.items() if values},
        "columns": deal_rows.stored_columns(entity, state.get(COLUMNS[entity]) or ()),
        show_filter.ATTENTION: show == show_filter.ATTENTION,
        "order": address.read(list_state.ORDER_PARAM),
        **({show: True} if show else {}),
    }


PAGE = "deals"


def _content(
    context: PageContext,
    views: list[DealEntry],
    entry: DealEntry | None,
    now: dict[str, Any],
    does: Abilities,
    options: Options,
) -> None:
    entries.problem(LISTS)
    opens = partial(go, does, options)
    if (open_entry := LISTS.open_entry(views)) is not None:
        entries.head(LISTS, open_entry)
        panel = st.session_state.get(LISTS.state("panel"), "edit")
        if panel == "link" or not entries.may_change(context, open_entry):
            st.caption("Link to this list")
            st.code(share.address(PAGE, params(open_entry.body, options)), language=None, wrap_lines=True)
        elif panel == "delete":
            entries.deletion(context, LISTS, open_entry)
        else:
            entries.edit(context, LISTS, open_entry)
            if open_entry.body != now:
                _update(context, open_entry, now)
        return
    if entry is not None and entry.body != now:
        st.markdown(f"**{plain(entry.name)}** · changed since saved")
        with st.container(horizontal=True):
            _update(context, entry, now)
            st.button("Open as saved", key="view_list_restore", on_click=opens, args=(entry,))
    entries.new(LISTS, "Save this list as", partial(_save, context, now))
    for view in views:
        link = ("link", "link", f"Link to {view.name}", partial(LISTS.show, view, "link"))
        entries.row(LISTS, view, view == entry, opens, (link, *entries.changes(context, LISTS, view)))
    if not views:
        st.caption("Nobody has saved a list for you yet.")
    entries.note_storage(context.clients.deals_address)


def go(does: Abilities, options: Options, view: DealEntry) -> None:
    """Show this list, as far as its filters are there for the person. A callback."""
    state, body = st.session_state, view.body
    entity = body["kind"] if body["kind"] in PLURALS else "supply_deals"
    state[KIND], state[FIND] = entity, body["find"]
    missing = 0
    for name in available_filters(entity, does):
        values = saved_values = body["filters"].get(name, [])
        with suppress(TrancheError):  # all of them where it can't be read now which the person may choose
            choices = {*options(name)[0]} if saved_values else set()
            values = [value for value in saved_values if value in choices]
        state[FILTER.format(name)] = values
        missing += len(saved_values) - len(values)
    state[COLUMNS[entity]] = [*deal_rows.read_columns(entity, body["columns"])[1:]]
    state[show_filter.KEY] = next((choice for choice in show_filter.TITLES if body.get(choice)), None)
    list_state.start_over(body["order"])
    state[OPEN], state[POPOVER] = view.id, False
    if missing:
        notes.say(f"{missing} of its filters {'is' if missing == 1 else 'are'} not there for you")


def params(body: Mapping[str, Any], options: Options) -> dict[str, str | list[str]]:
    """The URL parameters of a list, with the names of values as its filters have them."""
    link: dict[str, str | list[str]] = {KIND: PLURALS[body["kind"]], FIND: body["find"]}
    for name, values in body["filters"].items():
        choices, label_of = options(name)
        link[FILTER.format(name)] = [label_of(value) for value in values if value in choices]
    titles = deal_rows.column_titles(deal_rows.PRICE)
    if body["columns"]:
        names = deal_rows.read_columns(body["kind"], body["columns"])[1:]
        link[COLUMNS[body["kind"]]] = [titles[name] for name in names]
    show = [title for choice, title in show_filter.TITLES.items() if body.get(choice)]
    link |= {show_filter.KEY: show[0]} if show else {}
    link[list_state.ORDER_PARAM] = body["order"]
    return {name: value for name, value in link.items() if value}


def _update(context: PageContext, view: DealEntry, now: dict[str, Any]) -> None:
    if entries.may_change(context, view):
        st.button(
            "Update view", key="view_list_update", on_click=LISTS.attempt,
            args=(lambda: context.clients.view_store.deal_lists.update(view.id, now),),
        )  # fmt: skip


def _save(context: PageContext, now: dict[str, Any], name: str, is_shared: bool) -> None:
    st.session_state[OPEN] = context.clients.view_store.deal_lists.save(name, now, is_shared).id
