"""The list of packages and deals: searched, filtered, sorted and paged by the service."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from lib.deals.models import MEDIA_TYPES, STATUSES
from lib.reporting.models import Direction
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import (
    attention,
    bring_in,
    bulk,
    catalogue,
    columns,
    csv_changes,
    csv_dialog,
    dead,
    export_csv,
    marked,
    meanings,
    overlap,
    owner_note,
    pages,
    permission,
    prices,
    saved_lists,
    undo,
    view,
)
from lib.ui.deals.list_search import PAGE, ListSearch, active_filters, available_filters, orders, read_order
from lib.ui.deals.rows import KINDS
from lib.ui.deals.view import ALSO, CSV_MENU, FILTER, FIND, KIND, PLURALS, opened
from lib.ui.kit import listing, notes, screens
from lib.ui.kit.frame import PageContext

NARROWEST, NARROW = 150, "deals_filters_shown"


def draw(context: PageContext) -> None:
    """Draw the controls, a page of rows, and the actions on chosen rows."""
    list_view, (search, why_not) = view.current(), _search_bar(context)
    if why_not:
        attention.refuse(why_not)
        attention.follow(context, search.entity)
        return
    part = pages.page(context, search)
    if search.page and not part.rows:
        search = _first(search)
        part = pages.page(context, search)
    view.note_rows(list_view, part.rows)
    bar = st.container(horizontal=True, vertical_alignment="center")
    if opened() is None:
        notes.draw()
    if part.rows:
        _listing(context, search, part, list_view)
        _pager(search, part.count)
    else:
        _nothing(context, search)
    with bar:
        st.caption(_count_label(context, search, part.count), width="content")
        with st.container(width="content"):
            attention.follow(context, search.entity)
        st.space("stretch")
        saved_lists.draw(context, search.entity, permission.of(context), partial(_options, context))
        bulk.draw(context, search, part.count, list_view)
        undo.draw(context)
        overlap.draw(search, list_view)
        dead.draw(search)
        with st.popover("CSV", icon=":material/csv:", type="tertiary", key=CSV_MENU, on_change="rerun"):
            export_csv.draw(context, search, part.count)
            csv_dialog.draw(context, search.entity)
            csv_changes.draw(context, search.entity)
        bring_in.draw(context)


def _search_bar(context: PageContext) -> tuple[ListSearch, str]:
    """Draw the search and the filters, which are in the URL so that a link shows the same list.

    Returns what they ask for, and why the list can't be filtered so, if it can't.
    """
    does = permission.of(context)
    with st.container(horizontal=True, vertical_alignment="center"):
        entity = st.segmented_control(
            "Kind", list(KINDS), format_func=PLURALS.__getitem__, key=KIND, bind="query-params",
            required=True, default="supply_deals", label_visibility="collapsed", on_change=view.start_over,
        )  # fmt: skip
        text = st.text_input(
            "Search", type="search", live="200ms", key=FIND, bind="query-params", on_change=view.start_over,
            placeholder="Name, seat, DSP, place, contact, deal id", label_visibility="collapsed",
        )  # fmt: skip
        names = available_filters(entity, does)
        is_open = _phone_switch(names)
        is_on = attention.switch(entity, view.start_over)
        _choose_columns(entity)
    with (
        st.container(key="deals_filters" if is_open else "deals_filters_closed"),
        st.grid(4, min_column_width=NARROWEST, gap="small"),
    ):
        filters = {name: _several(context, name) for name in names}
    order: tuple[str, Direction] = read_order(st.query_params.get(view.ORDER, ""), entity, does)
    found = " ".join((text or "").split())
    means = meanings.of(context, found) if does.finds else ()
    only, why_not = attention.filters(context, is_on, order[0])
    chosen = (*active_filters(filters, entity, does), *only)
    return ListSearch(entity, found, means, chosen, order, _page()), why_not


def _phone_switch(names: Sequence[str]) -> bool:
    """Draw the button that shows the filters on a phone, where they fill the screen; whether they are shown.

    One that is set is always shown. style.css hides the button elsewhere.
    """
    state = st.session_state
    is_set = any(state.get(FILTER.format(name)) for name in names) or bool(state.get(attention.ONLY))
    is_open = is_set or bool(state.get(NARROW))
    st.button(
        "Hide filters" if is_open else "Filters", icon=":material/filter_list:", key="deals_show_filters",
        disabled=is_set, on_click=_narrow, args=(not is_open,),
    )  # fmt: skip
    return is_open


def _narrow(is_open: bool) -> None:
    """Show or hide the filters on a phone. A callback."""
    st.session_state[NARROW] = is_open


def _several(context: PageContext, name: str) -> list[str]:
    """Draw a filter; returns its values as the service takes them."""
    titles = {"status": "Status", "media_type": "Media type", "seat": "Seat", "dsp": "DSP"}
    options, named = _options(context, name)
    return st.multiselect(
        titles[name],
        options,
        format_func=named,
        key=FILTER.format(name),
        bind="query-params",
        placeholder=titles[name],
        label_visibility="collapsed",
        select_all=False,
        filter_mode="contains",
        on_change=view.start_over,
    )


def _options(context: PageContext, name: str) -> tuple[list[str], Callable[[str], str]]:
    if name == "status":
        return list(STATUSES), str.capitalize
    if name == "media_type":
        return list(MEDIA_TYPES), str.capitalize
    known = catalogue.seats(context) if name == "seat" else catalogue.dsps(context)
    names = {str(one.id): one.name or f"{name} {one.id}" for one in known.values()}
    twice = (
        {text for text in names.values() if [*names.values()].count(text) > 1} if len(names) < 500 else set()
    )
    return sorted(
        names, key=lambda one: names[one].casefold()
    ), lambda one: f"{names.get(one, one)} ({one})" if names.get(one) in twice else names.get(one, one)


def _page() -> int:
    text = st.query_params.get(view.PAGE, "1")
    return int(text) - 1 if text.isascii() and text.isdigit() and 0 < int(text) < 10**6 else 0


def _first(search: ListSearch) -> ListSearch:
    """Go to the first page: the list has become shorter than the page in the URL."""
    st.query_params.pop(view.PAGE, None)
    return ListSearch(search.entity, search.text, search.meanings, search.filters, search.order)


def _listing(
    context: PageContext, search: ListSearch, part: pages.RowsPage, list_view: view.ListView
) -> None:
    does, also = permission.of(context), _also(search.entity)
    names = (*columns.OF[search.entity], *also)
    rows = attention.add_health(context, marked.rows(context, part.rows))
    rows = owner_note.add_owners(context, rows) if "owner" in also else rows
    title = prices.of(context).title
    ticked = (
        frozenset(row.key for row in part.rows)
        if list_view.all_of == bulk.question(search)
        else list_view.keys
    )
    shown = listing.Listing(
        label=PLURALS[search.entity],
        columns=columns.columns(names, title, orders(search.entity, does), search.order),
        rows=columns.rows(rows, names, ticked, opened()),
        count=part.count,
        ticks=not does.why_not(search.entity, "change"),
    )
    with st.container(key="deals_table"):
        listing.draw(view.LIST, shown, list_view.taken, view.catch_up)  # type: ignore[arg-type]


def _also(entity: str) -> tuple[str, ...]:
    """The optional columns that are chosen."""
    return tuple(name for name in columns.OPTIONAL[entity] if st.session_state.get(ALSO.format(name)))


def _choose_columns(entity: str) -> None:
    """Draw the switches of optional columns, which are in the link."""
    for name, label in columns.OPTIONAL[entity].items():
        st.toggle(label, key=ALSO.format(name), bind="query-params", width="content")


def _pager(search: ListSearch, count: int) -> None:
    last = (count - 1) // PAGE
    if not last:
        return
    numbers, page = Numbers.of(st.context.locale), search.page
    first = page * PAGE
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="center"):
        _turn("First page", "first_page", 0, page == 0)
        _turn("Previous page", "chevron_left", page - 1, page == 0)
        shown = f"{numbers.number(first + 1)}–{numbers.number(min(count, first + PAGE))}"
        st.caption(f"{shown} of {numbers.number(count)}", width="content")
        _turn("Next page", "chevron_right", page + 1, page >= last)
        _turn("Last page", "last_page", last, page >= last)


def _turn(label: str, icon: str, to: int, is_off: bool) -> None:
    st.button(
        label, icon=f":material/{icon}:", key=f"deals_{icon}", type="tertiary", disabled=is_off,
        on_click=view.turn(max(0, to)),
    )  # fmt: skip


def _nothing(context: PageContext, search: ListSearch) -> None:
    """Draw a note that nothing was found, and how many of the other kind the search finds."""
    other = next(entity for entity in KINDS if entity != search.entity)
    found = pages.count(context, search.of_kind(other, permission.of(context)))
    word, others = PLURALS[search.entity].lower(), PLURALS[other].lower()
    if not search.is_narrowed:
        st.info(f"There are no {word} yet.", icon=":material/handshake:")
        if not permission.of(context).why_not("supply_deals", "create"):
            st.page_link(screens.NEW_PACKAGE, label="Set up a package", icon=":material/add_box:")
    else:
        st.info(f"No {word} match. Shorten the search, or remove a filter.", icon=":material/search_off:")
    if found:
        number = Numbers.of(st.context.locale).number(found)
        label = f"Show {number} {others if found > 1 else others[:-1]}"
        st.button(label, icon=":material/arrow_forward:", key="deals_other", on_click=_show, args=(other,))


def _show(entity: str) -> None:
    """Switch to the other kind. A callback."""
    st.session_state[KIND] = entity
    view.start_over()


def _count_label(context: PageContext, search: ListSearch, count: int) -> str:
    """`1,149 packages: 800 active · 349 paused`."""
    numbers, word = Numbers.of(st.context.locale), PLURALS[search.entity].lower()
    by_status = pages.statuses(context, search) if count else {}
    parts = [f"{numbers.number(by_status[one])} {one}" for one in STATUSES if by_status.get(one)]
    whole = f"{numbers.number(count)} {word if count != 1 else word[:-1]}"
    chosen = dict(search.filters).get("status")
    if chosen:
        return f"{whole} · without the filter by status: {', '.join(parts)}"
    return f"{whole}: {' · '.join(parts)}" if parts else whole
