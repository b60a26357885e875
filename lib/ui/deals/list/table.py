"""The list of packages and deals: searched, filtered, sorted and paged by the service."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from lib.deals.fields import DEALS
from lib.deals.models import MEDIA_TYPES, STATUSES, DemandDeal
from lib.figures.deals import field_text
from lib.figures.deals.deal_names import KINDS
from lib.slicers.models import Direction
from lib.ui.deals import catalog, counts, deal_rows, list_state
from lib.ui.deals.catalog import read_number
from lib.ui.deals.changes import dead_targets_dialog, pause_dialog, undo
from lib.ui.deals.csv import csv_changes, csv_creations
from lib.ui.deals.drawer import details
from lib.ui.deals.insight import health_source, health_view, overlap
from lib.ui.deals.list import export_csv, proposals, saved_lists, show_filter
from lib.ui.deals.list_state import (
    COLUMNS,
    CSV_MENU,
    FILTER,
    FIND,
    KIND,
    NOTE,
    OPEN,
    PAGE,
    PLURALS,
    ListSearch,
    active_filters,
    available_filters,
    open_key,
    orders,
    read_order,
)
from lib.ui.kit import address, listing, notes, screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import NotFound, TrancheError

BY_ID, ID, ID_PROBLEM = "bring_in", "bring_in_id", "bring_in_problem"
WHAT_IT_IS = "Created or opened in Tranche; this service has no list"
NARROW = "deals_filters_shown"
# Not by the key of their container: another one would mount the pickers anew, and take the focus from them.
CLOSED = """<style>@media (max-width: 640px) {
    [data-testid=stLayoutWrapper]:has(> .st-key-deals_filters),
    .stMainBlockContainer .st-key-deals_columns { display: none; }
}</style>"""


def draw_by_id(context: PageContext) -> None:
    """Draw the field for a deal's id; nothing if the service lists its deals."""
    if catalog.abilities(context).lists:
        return
    with st.popover(
        "Add a deal by id", icon=":material/add_link:", type="tertiary", key=BY_ID, on_change="rerun"
    ):
        st.markdown(
            "A deal that was created outside Tranche appears in this list once you have opened it here."
        )
        st.text_input("Deal id", key=ID, placeholder="The number in the service", autocomplete="off")
        st.button("Open deal", type="primary", key="bring_in_open", on_click=open_it, args=(context,))
        if failure := st.session_state.get(ID_PROBLEM):
            st.error(plain(failure), icon=":material/error:")


def open_it(context: PageContext) -> None:
    """Read the deal, which adds it to the list, and open it. A callback."""
    state = st.session_state
    state.pop(ID_PROBLEM, None)
    number = read_number(state.get(ID) or "")
    if number is None:
        state[ID_PROBLEM] = "Type the id, a whole number like 4711."
        return
    try:
        deal = context.deals.get(DemandDeal, number)
    except NotFound:
        state[ID_PROBLEM] = f"The service has no deal {number}. Check the id."
    except TrancheError as error:
        state[ID_PROBLEM] = f"{error.sentence} Nothing was changed."
    else:
        catalog.forget()
        state[NOTE] = f"{deal.name or f'Deal {number}'} is in the list"
        address.write(OPEN, f"demand_deals-{number}")
        state[BY_ID], state[ID] = False, ""  # the open popover would lie over the drawer


def draw(context: PageContext) -> None:
    """Draw the controls, a page of rows, and the actions on chosen rows."""
    list_view, (search, why_not) = list_state.current(), _search_bar(context)
    if why_not:
        show_filter.draw_refusal(why_not)
        health_view.follow(context, search.entity)
        return
    part = catalog.page(context, search)
    if search.page and not part.rows:
        address.write(list_state.PAGE_PARAM)  # the list has become shorter than the page in the URL
        search = replace(search, page=0)
        part = catalog.page(context, search)
    list_state.note_rows(list_view, part.rows)
    with st.container(horizontal=True, vertical_alignment="center", key="deals_actions"):
        summary = st.container(horizontal=True, vertical_alignment="center", key="deals_summary")
        bar = st.container(
            horizontal=True, vertical_alignment="center", width="content", gap="xsmall", key="deals_bar"
        )
    with bar:
        names = (deal_rows.MAIN, *_choose_columns(context, search.entity))
    if part.rows:
        _listing(context, search, part, list_view, names)
        number = counts.number
        listing.draw_pager("deals", search.page, part.count, PAGE, number, list_state.turn)
    else:
        _nothing(context, search)
    with summary:
        st.caption(_count_label(context, search, part.count), width="content")
        with st.container(width="content"):
            health_view.follow(context, search.entity, [row.id for row in part.rows])
        if open_key() is None and not address.read(proposals.PARAM):
            notes.draw()
    with bar:
        saved_lists.draw(context, search.entity, catalog.abilities(context), partial(_options, context))
        pause_dialog.draw(context, search, part.count, list_view)
        undo.draw(context)
        proposals.draw(context)
        overlap.draw(search, list_view)
        dead_targets_dialog.draw(search)
        with st.popover("CSV", icon=":material/csv:", type="tertiary", key=CSV_MENU, on_change="rerun"):
            export_csv.draw(context, search, part.count)
            csv_creations.draw(context, search.entity)
            csv_changes.draw(context, search.entity)
        draw_by_id(context)


FILTER_TITLES = {"status": "Status", "media_type": "Media type", "seat": "Seat", "dsp": "DSP"}


def _search_bar(context: PageContext) -> tuple[ListSearch, str]:
    """Draw the search and the filters, which are in the URL so that a link shows the same list.

    Returns what they ask for, and why the list can't be filtered so, if it can't.
    """
    does = catalog.abilities(context)
    with context.row, st.container(horizontal=True, vertical_alignment="center", key="deals_search"):
        entity = st.segmented_control(
            "Kind", [*KINDS][::-1], format_func=PLURALS.__getitem__, key=KIND, bind="query-params",
            required=True, default=DEALS, label_visibility="collapsed", on_change=list_state.start_over,
        )  # fmt: skip
        text = st.text_input(
            "Search", type="search", live="200ms", key=FIND, bind="query-params",
            on_change=list_state.start_over, label_visibility="collapsed",
            placeholder="Name, deal id, seat, DSP, place",
        )  # fmt: skip
        names = available_filters(entity, does)
        # Filters fill a phone's screen: there a button shows them, but for those that are set (style.css).
        state = st.session_state
        is_set = any(state.get(key) for key in (*map(FILTER.format, names), show_filter.KEY))
        is_open = is_set or bool(state.get(NARROW))
        st.button(
            "Hide filters" if is_open else "Filters", icon=":material/filter_list:", key="deals_show_filters",
            disabled=is_set, on_click=state.update, args=({NARROW: not is_open},),
        )  # fmt: skip
        if not is_open:
            st.html(CLOSED)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="deals_filters"):
            filters = {}
            for name in names:
                options, label_of = _options(context, name)
                filters[name] = st.multiselect(
                    FILTER_TITLES[name], options, format_func=label_of, key=FILTER.format(name),
                    bind="query-params", placeholder=FILTER_TITLES[name], label_visibility="collapsed",
                    select_all=False, filter_mode="contains", on_change=list_state.start_over,
                )  # fmt: skip
            choice = show_filter.draw(context, entity)
    if choice:
        st.caption(f"{show_filter.TITLES[choice]}: {show_filter.MEANINGS[choice]}")
    order: tuple[str, Direction] = read_order(address.read(list_state.ORDER_PARAM), _orders(context, entity))
    search_text = " ".join((text or "").split())
    means = catalog.meanings(context, search_text) if does.finds else ()
    only, why_not = show_filter.filters(context, entity, choice, order[0])
    conditions = (*active_filters(filters, entity, does), *only)
    number = address.read(list_state.PAGE_PARAM) or "1"
    is_page = number.isascii() and number.isdigit() and 0 < int(number) < 10**6
    page = int(number) - 1 if is_page else 0
    return ListSearch(entity, search_text, means, conditions, order, page), why_not


def _options(context: PageContext, name: str) -> tuple[list[str], Callable[[str], str]]:
    if name == "status":
        return list(STATUSES), str.capitalize
    if name == "media_type":
        return list(MEDIA_TYPES), str.capitalize
    entities = catalog.seats(context) if name == "seat" else catalog.dsps(context)
    names = {str(entity.id): entity.name or f"{name} {entity.id}" for entity in entities.values()}
    duplicates = (
        {text for text in names.values() if [*names.values()].count(text) > 1} if len(names) < 500 else set()
    )

    def label_of(number: str) -> str:
        label = names.get(number, number)
        return f"{label} ({number})" if label in duplicates else label

    return sorted(names, key=lambda number: names[number].casefold()), label_of


def _listing(
    context: PageContext,
    search: ListSearch,
    part: catalog.RowsPage,
    list_view: list_state.ListView,
    names: Sequence[str],
) -> None:
    does = catalog.abilities(context)
    rows = health_view.add_health(context, catalog.mark_rows(context, part.rows))
    rows = details.add_owners(context, rows) if "owner" in names else rows
    money = field_text.prices_of(context)
    selection = (
        frozenset(row.key for row in part.rows) if list_view.all_of == search.conditions else list_view.keys
    )
    listing_table = listing.Listing(
        label=PLURALS[search.entity],
        columns=deal_rows.list_columns(
            names, money.title, _orders(context, search.entity), search.order, search.entity
        ),
        rows=deal_rows.list_rows(rows, names, selection, open_key(), money),
        count=part.count,
        ticks=not does.why_not(search.entity, "change"),
    )
    with st.container(key="deals_table"):
        listing.draw(list_state.LIST, listing_table, list_view.receipt, list_state.current)  # type: ignore[arg-type]


def _orders(context: PageContext, entity: str) -> frozenset[str]:
    return orders(entity, catalog.abilities(context), entity == DEALS and health_source.is_stored(context))


def _choose_columns(context: PageContext, entity: str) -> list[str]:
    """Draw the menu of columns beside the name; those chosen, which are a person's own, and in the link."""
    state, key = st.session_state, COLUMNS[entity]
    if key not in state and key not in st.query_params:
        try:
            names = context.clients.view_store.deal_columns.get("", entity)
        except TrancheError:
            names = ""
        state[key] = [*deal_rows.read_columns(entity, names.split(","))[1:]]
    titles, usual = deal_rows.column_titles(deal_rows.PRICE), deal_rows.COLUMNS[entity][1:]
    with st.popover("Columns", icon=":material/view_column:", type="tertiary", key="deals_columns"):
        columns = st.pills(
            "Columns", options := deal_rows.ALL_COLUMNS[entity][1:], selection_mode="multi",
            default=usual, format_func=titles.__getitem__, key=key, bind="query-params",
            on_change=_keep_columns, args=(context, entity), label_visibility="collapsed",
        )  # fmt: skip
        st.caption("Beside the name. Kept for you.")
    return [name for name in options if name in columns]


def _keep_columns(context: PageContext, entity: str) -> None:
    """Keep the choice for the next visits. A callback."""
    names = deal_rows.stored_columns(entity, st.session_state[COLUMNS[entity]])
    try:
        context.clients.view_store.deal_columns.set("", entity, ",".join(names))
    except TrancheError as error:
        notes.say(f"The columns are shown, but not kept: {error.reason.rstrip('.')}")


def _nothing(context: PageContext, search: ListSearch) -> None:
    """Draw a note that nothing was found, and how many of the other kind the search finds."""
    other = next(entity for entity in KINDS if entity != search.entity)
    count_of_other = catalog.count(context, search.of_kind(other, catalog.abilities(context)))
    word, others = PLURALS[search.entity].lower(), PLURALS[other].lower()
    if not search.is_narrowed:
        st.info(f"There are no {word} yet.", icon=":material/handshake:")
        if not catalog.abilities(context).why_not("supply_deals", "create"):
            st.page_link(screens.NEW_PACKAGE, label="Set up a package", icon=":material/add_box:")
    else:
        st.info(f"No {word} match. Shorten the search, or remove a filter.", icon=":material/search_off:")
    if count_of_other:
        number = counts.number(count_of_other)
        label = f"Show {number} {others if count_of_other > 1 else others[:-1]}"
        st.button(label, icon=":material/arrow_forward:", key="deals_other", on_click=_show, args=(other,))


def _show(entity: str) -> None:
    st.session_state[KIND] = entity
    list_state.start_over()


def _count_label(context: PageContext, search: ListSearch, count: int) -> str:
    """`1,149 packages: 800 active · 349 paused`."""
    numbers, word = counts.numbers(), PLURALS[search.entity].lower()
    by_status = catalog.statuses(context, search) if count else {}
    parts = [f"{numbers.number(by_status[status])} {status}" for status in STATUSES if by_status.get(status)]
    whole = f"{numbers.number(count)} {word if count != 1 else word[:-1]}"
    statuses = dict(search.filters).get("status")
    if statuses:
        return f"{whole} · without the filter by status: {', '.join(parts)}"
    return f"{whole}: {' · '.join(parts)}" if parts else whole
