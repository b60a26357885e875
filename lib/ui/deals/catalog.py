"""What the service has (seats, DSPs, lists, pages of packages and deals), and what the person may do there.

All is kept for a moment; where the service fails meanwhile, as it was read before.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from lib.deals.abilities import Abilities
from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.models import (
    STATUSES,
    AppList,
    DemandDeal,
    DomainList,
    Dsp,
    PackageOrDeal,
    Resource,
    Seat,
    SupplyPackage,
)
from lib.deals.targeting.filters import Lists, entries
from lib.deals.targeting.kinds import KINDS, key_field
from lib.figures.caches import SessionCache
from lib.figures.context import NO_SLICER
from lib.figures.deals import field_text, targeting_text
from lib.figures.deals.deal_names import KINDS as ENTITY_WORDS
from lib.figures.deals.deal_names import deal_label, seat_name
from lib.figures.deals.deal_report import usual_days
from lib.figures.deals.field_text import Prices
from lib.figures.query import values
from lib.ui.deals import counts
from lib.ui.deals.deal_rows import DealRow, of_deal, of_package
from lib.ui.deals.list_state import NEWEST, PAGE, ListSearch, search_words
from lib.ui.kit import notes, retry, session_cache
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

CATALOG, PAGES, HEALTH = "deals_catalog", "deals_pages", "deals_health"
SECONDS = 15.0
MOST = 20
Model = TypeVar("Model", bound=Resource)
LOOKING = "You can see deals, but not change them"
PROPOSING = "What you change is proposed, and somebody else decides about it"
BATCH_SIZE = 250
Value = TypeVar("Value")
Entities = tuple[PackageOrDeal, ...]
MOST_OPTIONS = 50
MOST_CODES = 20


def seats(context: PageContext) -> dict[int, Seat]:
    """All seats by id, by DSP and name."""
    seats = sorted(_all(context, Seat), key=lambda seat: (dsp_name(seat), seat.name or ""))
    return {seat.id: seat for seat in seats if seat.id is not None}


def contacts(context: PageContext, seat_ids: Sequence[int]) -> dict[int, str]:
    """Seat → the contact of its newest deal that has one, as far as the service finds deals by their seat."""
    client = context.deals
    if not client.abilities.finds:
        return {}

    def newest(seat: int) -> str:
        deals = client.list(DemandDeal, seat=seat, ordering="-id", limit=MOST).results
        return next((deal.contact_email for deal in deals if deal.contact_email), "")

    contact_of_seat: dict[int, str] = {}
    try:
        for seat in seat_ids[:MOST]:
            contact_of_seat[seat] = fetch_cached(context, ("contact", seat), partial(newest, seat))
    except TrancheError:  # nothing is remembered then, and the form goes on
        return contact_of_seat
    return {seat: contact for seat, contact in contact_of_seat.items() if contact}


def dsps(context: PageContext) -> dict[int, Dsp]:
    """All DSPs by id."""
    return {dsp.id: dsp for dsp in _all(context, Dsp) if dsp.id is not None}


def lists(context: PageContext) -> tuple[DomainList | AppList, ...]:
    """All domain and app lists."""
    return (*_all(context, DomainList), *_all(context, AppList))


def list_entries(context: PageContext) -> Lists:
    """Their entries, as report filters take them."""
    return entries(lists(context))


def named_lists(context: PageContext) -> dict[str, dict[str, str]]:
    """Their names by kind and id, as the pickers take them."""
    names: dict[str, dict[str, str]] = {"domain_list": {}, "app_list": {}}
    for entry_list in lists(context):
        kind = "domain_list" if isinstance(entry_list, DomainList) else "app_list"
        names[kind][str(entry_list.id)] = entry_list.name or f"list {entry_list.id}"
    return names


def trouble(context: PageContext) -> TrancheError | None:
    """Why something of what is shown is what was read before; None where all of it is fresh."""
    return _cache().trouble(context.person.username)


def forget() -> None:
    """Read everything again: something was changed."""
    session_cache.clear(CATALOG, PAGES, HEALTH)


def _all(context: PageContext, model: type[Model]) -> tuple[Model, ...]:
    """All of this kind; where the service fails meanwhile, those that were read before."""
    key = (context.person.username, model)
    return _cache().get(key, lambda: tuple(context.deals.everything(model, ordering="id")))


def _cache() -> SessionCache[tuple[Any, ...]]:
    make = partial(SessionCache, SECONDS, MOST, serves_stale=retry.is_wanted_since, fails_together=True)
    return session_cache.of(CATALOG, make)


def abilities(context: PageContext) -> Abilities:
    """As screens ask for it. Raises ServiceProblem where it is not known yet what the service does."""
    does = context.deals.abilities
    grant = context.now().deals
    why_not = "" if grant.writes else PROPOSING if grant.proposes else LOOKING
    return replace(does, refuses=why_not) if why_not else does


@dataclass(frozen=True)
class RowsPage:
    """The rows of a page, and how many there are altogether."""

    count: int
    rows: tuple[DealRow, ...]


def page(context: PageContext, search: ListSearch) -> RowsPage:
    """A page. Where the service fails meanwhile, as it was read before (`trouble`)."""
    client = context.deals
    return fetch_cached(context, search, lambda: read_page(client, search, search.page * PAGE, PAGE))


def count(context: PageContext, search: ListSearch) -> int:
    """How many there are."""
    client = context.deals
    first_page = replace(search, page=0)
    return fetch_cached(
        context, ("count", first_page), lambda: client.list(search.entity, limit=1, **search.found_by).count
    )


def statuses(context: PageContext, search: ListSearch) -> dict[str, int]:
    """How many there are of each status, whatever the filter by status is."""
    client = context.deals
    others = tuple((name, values) for name, values in search.filters if name != "status")
    whole = replace(search, filters=others, order=NEWEST, page=0)
    entity = whole.entity

    def fetch() -> dict[str, int]:
        if client.abilities.finds:
            page = client.list(entity, limit=1, counts="status", **whole.found_by)
            return dict(page.counts.get("status", {}))
        by_status = {
            status: client.list(entity, limit=1, status=status, **whole.found_by).count for status in STATUSES
        }
        return {status: number for status, number in by_status.items() if number}

    return fetch_cached(context, ("statuses", whole), fetch)


def find_some(context: PageContext, model: type[Any], text: str) -> Any:
    """The newest of a kind that a search finds, as a page of the client's."""
    client = context.deals
    search = {"search": text} if text else {}
    return fetch_cached(
        context,
        ("some", model, text),
        lambda: client.list(model, limit=MOST_OPTIONS, ordering="-id", **search),
    )


def by_id(context: PageContext, model: type[Any], ids: Sequence[int]) -> tuple[Any, ...]:
    """The existing ones of these ids."""
    client, unique_ids = context.deals, sorted(set(ids))
    if not unique_ids:
        return ()
    entities: tuple[Any, ...] = fetch_cached(
        context, ("by_id", model, *unique_ids), lambda: of_ids(client, model, unique_ids)
    )
    return entities


def prices_of(context: PageContext, entity: str, number: int) -> Prices:
    """The currency and unit of a deal's price, as it is now; the usual ones of a package."""
    ids = [number] if entity == DemandDeal.entity else []
    deal = next(iter(by_id(context, DemandDeal, ids)), None)
    return field_text.prices_of(context).of(deal and deal.currency)


def fetch_cached(context: PageContext, key: Hashable, fetch: Callable[[], Value]) -> Value:
    """What was fetched for this lately, else what is fetched now; while that fails, as it was before."""
    value: Value = _pages().get((context.person.username, key), fetch)
    return value


def page_trouble(context: PageContext) -> TrancheError | None:
    """Why something of what is shown is what was read before."""
    return _pages().trouble(context.person.username)


PAGE_SECONDS = 15.0
MOST_PAGES = 20


def _pages() -> SessionCache[Any]:
    return session_cache.of(
        PAGES, partial(SessionCache, PAGE_SECONDS, MOST_PAGES, serves_stale=retry.is_wanted_since)
    )


def read_page(client: Deals, search: ListSearch, offset: int, limit: int) -> RowsPage:
    """Some rows, with what they are linked with."""
    params = search.found_by | {"ordering": search.ordering}
    page = client.list(search.entity, limit=limit, offset=offset, **params)
    return RowsPage(page.count, tuple(_rows(client, page.results)))


def all_rows(client: Deals, search: ListSearch) -> Iterator[DealRow]:
    """All rows of the list, page after page; a package of several deals is read once."""
    offset, known_packages = 0, _KnownPackages()
    while True:
        params = search.found_by | {"ordering": search.ordering}
        page = client.list(search.entity, limit=LARGEST_PAGE, offset=offset, **params)
        yield from _rows(client, page.results, known_packages)
        offset += len(page.results)
        if not page.results or offset >= page.count:
            return


def rows_by_name(client: Deals, search: ListSearch, **more: Any) -> Iterator[DealRow]:
    """All rows of the list that also have these values, as far as they are known by themselves."""
    for entity in client.everything(search.entity, ordering="id", **search.found_by, **more):
        yield of_package(entity, ()) if isinstance(entity, SupplyPackage) else of_deal(entity, {})


def deals_of(client: Deals, packages: Sequence[SupplyPackage]) -> dict[int, list[DemandDeal]]:
    """The deals of packages, by package id; of those not listed, what the packages say."""
    package_ids = [package.id for package in packages if package.demand_deals and package.id is not None]
    whole_deals: dict[int | None, DemandDeal] = {}
    for first in range(0, len(package_ids), BATCH_SIZE):
        ids = package_ids[first : first + BATCH_SIZE]
        whole_deals |= {
            deal.id: deal for deal in client.everything(DemandDeal, supply_deals=ids, ordering="id")
        }
    return {
        package.id or 0: [
            whole_deals.get(link.id) or DemandDeal(id=link.id, name=link.name)
            for link in package.demand_deals
        ]
        for package in packages
    }


def of_ids(client: Deals, model: type[Any], ids: Sequence[int]) -> tuple[Any, ...]:
    """Those of these ids that are there, read now."""
    parts = (ids[first : first + BATCH_SIZE] for first in range(0, len(ids), BATCH_SIZE))
    return tuple(
        entity for part in parts for entity in client.list(model, id=part, limit=LARGEST_PAGE).results
    )


class _KnownPackages(dict[int | None, SupplyPackage]):
    """The packages of deals by id, read as they are needed, and their targeting in words."""

    def __init__(self) -> None:
        super().__init__()
        self.sentences: dict[int | None, str] = {}

    def read(self, client: Deals, deals: Sequence[DemandDeal]) -> None:
        """Read the first package of each of these that is not known."""
        ids = dict.fromkeys(deal.supply_deals[0].id for deal in deals if deal.supply_deals)
        for package in of_ids(
            client, SupplyPackage, [number for number in ids if number and number not in self]
        ):
            self[package.id], self.sentences[package.id] = package, targeting_text.sentence(package)


def _rows(
    client: Deals, entities: Entities, known_packages: _KnownPackages | None = None
) -> Iterator[DealRow]:
    packages = [entity for entity in entities if isinstance(entity, SupplyPackage)]
    deals = [entity for entity in entities if isinstance(entity, DemandDeal)]
    deals_of_package = deals_of(client, packages)
    yield from (of_package(package, deals_of_package[package.id or 0]) for package in packages)
    if deals:
        known_packages = _KnownPackages() if known_packages is None else known_packages
        known_packages.read(client, deals)
        sentences = known_packages.sentences
        yield from (of_deal(deal, known_packages, lambda package: sentences[package.id]) for deal in deals)


def draw_link_picker(
    context: PageContext,
    label: str,
    key: str,
    model: type[PackageOrDeal],
    *,
    takes_ids: bool = False,
    disabled: bool = False,
) -> None:
    """Draw the choice of packages or deals to link: of those chosen, and the newest; if there are more, of
    those that a search finds. `takes_ids`: others may be typed."""
    selection = st.session_state.get(key, ())
    everything = find_some(context, model, "")
    matches = everything
    if everything.count > MOST_OPTIONS:
        number = counts.number(everything.count)
        text = st.text_input(
            f"Search for {label.lower()}", type="search", live="200ms", key=f"{key}_search",
            placeholder=f"Search among {number} by name, seat, DSP or id", label_visibility="collapsed",
            disabled=disabled,
        )  # fmt: skip
        matches = find_some(context, model, " ".join((text or "").split()))
    options = {entity.id or 0: link_title(entity) for entity in matches.results}
    draw_picker(
        label, link_labels(context, model, selection) | options, key, "Type a name, a seat or an id",
        takes_ids=takes_ids, disabled=disabled,
    )  # fmt: skip


def link_labels(context: PageContext, model: type[PackageOrDeal], ids: Sequence[int]) -> dict[int, str]:
    """The labels of these in the picker."""
    title_of_id = {entity.id: link_title(entity) for entity in by_id(context, model, ids)}
    return {number: title_of_id.get(number) or f"{ENTITY_WORDS[model.entity]} {number}" for number in ids}


def link_title(entity: PackageOrDeal) -> str:
    """A package or a deal as the picker has it."""
    return (
        deal_label(entity) if isinstance(entity, DemandDeal) else f"{entity.name or 'Package'} · {entity.id}"
    )


def mark_rows(context: PageContext, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows of a page with marks; without them if the report does not answer within a moment."""
    packages = [row.package for row in rows if row.package is not None]
    marks = targeting_text.marks(context, usual_days(context), packages) if packages else {}
    if not any(marks.values()):
        return [*rows]
    return [
        row
        if row.package is None
        else replace(row, targeting=targeting_text.sentence(row.package, marks=marks))
        for row in rows
    ]


def meanings(context: PageContext, text: str) -> tuple[str, ...]:
    """The values of targeting with a word of the text at the start of a word of their description, as the
    service's `meaning`: `france:country:FR`."""
    if context.slicer is NO_SLICER:
        return ()
    fields = {
        kind.name: field
        for kind in KINDS
        if not kind.is_list and (field := key_field(kind, context.slicer)) is not None and field.mapping
    }
    matches = []
    for word in search_words(text):
        for name, field in fields.items():
            with suppress(TrancheError):
                options = values.value_options(context, usual_days(context), field.name, word)
                codes = [
                    code
                    for code, description in options.descriptions.items()
                    if code and f" {word}" in f" {description.casefold()}"
                ]
                matches += [f"{word}:{name}:{code}" for code in codes[:MOST_CODES]]
    return tuple(matches)


NOT_A_NUMBER = "An id is a number; others were left out"


def draw_picker(
    title: str,
    names: Mapping[int, str],
    key: str,
    placeholder: str,
    *,
    takes_ids: bool = False,
    disabled: bool = False,
) -> None:
    """Draw the picker. `names` are those of all that are offered or chosen; `takes_ids`: others may be
    typed."""
    st.multiselect(
        title, list(names), format_func=lambda number: names.get(number, str(number)), key=key,
        persist_state="session", filter_mode="contains", select_all=False, wrap=True, placeholder=placeholder,
        accept_new_options=takes_ids, disabled=disabled, on_change=_as_numbers if takes_ids else "rerun",
        args=(key,) if takes_ids else None,
    )  # fmt: skip
    if takes_ids:
        notes.draw()


def draw_seat(seats: Mapping[int, Seat], key: str) -> None:
    """Draw the choice of one seat; a chosen one that is not known stays an option."""
    selection: int | None = st.session_state.get(key)
    options = [*dict.fromkeys([*seats, *([] if selection is None else [selection])])]
    st.selectbox(
        "Seat", options, index=None, key=key,
        format_func=lambda seat: seat_label(seats.get(seat), seat), persist_state="session",
        filter_mode="contains", placeholder="Who may buy it",
    )  # fmt: skip


def read_number(value: object) -> int | None:
    """The id that was picked or typed; None for what is none."""
    if isinstance(value, int):
        return value
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text) < 2**53 else None


def seat_label(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, DSP and external id, to be found by each."""
    more = [] if seat is None else [dsp_name(seat), seat.external_id or ""]
    return " · ".join(filter(None, (seat_name(seat, seat_id), *more)))


def dsp_name(seat: Seat | None) -> str:
    """The name of its DSP; empty where it is not known."""
    return (seat and seat.dsp and seat.dsp.name) or ""


def _as_numbers(key: str) -> None:
    values = st.session_state[key]
    numbers = [number for value in values if (number := read_number(value)) is not None]
    if len(numbers) < len(values):
        notes.say(NOT_A_NUMBER)
    st.session_state[key] = list(dict.fromkeys(numbers))
