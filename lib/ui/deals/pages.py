"""Pages of the list, as the service gives them, kept for a moment; what is linked with a page's rows."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.models import STATUSES, DemandDeal, PackageOrDeal, SupplyPackage
from lib.ui.deals import catalogue
from lib.ui.deals.list_search import MODELS, NEWEST, PAGE, ListSearch
from lib.ui.deals.rows import DealRow, of_deal, of_package
from lib.ui.deals.targeting import words
from lib.ui.kit import session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.kit.session_cache import SessionCache
from lib.wire.errors import TrancheError

SECONDS, MOST, TOGETHER = 15.0, 20, 250
Value = TypeVar("Value")
Found = tuple[PackageOrDeal, ...]


@dataclass(frozen=True)
class RowsPage:
    """The rows of a page, and how many there are altogether."""

    count: int
    rows: tuple[DealRow, ...]


def page(context: PageContext, search: ListSearch) -> RowsPage:
    """A page. Where the service fails meanwhile, as it was read before (`trouble`)."""
    client = catalogue.client(context)
    return fetch_cached(context, search, lambda: read(client, search, search.page * PAGE, PAGE))


def count(context: PageContext, search: ListSearch) -> int:
    """How many there are."""
    client = catalogue.client(context)
    asked = replace(search, page=0)
    return fetch_cached(
        context,
        ("count", asked),
        lambda: client.list(MODELS[search.entity], limit=1, **search.found_by).count,
    )


def statuses(context: PageContext, search: ListSearch) -> dict[str, int]:
    """How many there are of each status, whatever the filter by status is."""
    client = catalogue.client(context)
    others = tuple((name, values) for name, values in search.filters if name != "status")
    asked = replace(search, filters=others, order=NEWEST, page=0)
    return fetch_cached(context, ("statuses", asked), lambda: _statuses(client, asked))


def some(context: PageContext, model: type[Any], text: str, limit: int) -> Any:
    """The newest of a kind that a search finds, as a page of the client's."""
    client = catalogue.client(context)
    search = {"search": text} if text else {}
    return fetch_cached(
        context,
        ("some", model, text, limit),
        lambda: client.list(model, limit=limit, ordering="-id", **search),
    )


def by_id(context: PageContext, model: type[Any], ids: Sequence[int]) -> tuple[Any, ...]:
    """The existing ones of these ids."""
    client, wanted = catalogue.client(context), sorted(set(ids))
    if not wanted:
        return ()
    found: tuple[Any, ...] = fetch_cached(
        context, ("by_id", model, *wanted), lambda: of_ids(client, model, wanted)
    )
    return found


def fetch_cached(context: PageContext, key: Hashable, fetch: Callable[[], Value]) -> Value:
    """What was fetched for this lately, else what is fetched now; while that fails, as it was before."""
    value: Value = _cache().get((context.person.username, key), fetch)
    return value


def trouble(context: PageContext) -> TrancheError | None:
    """Why something of what is shown is what was read before."""
    return _cache().trouble(context.person.username)


def _cache() -> SessionCache[Any]:
    return session_cache.of(catalogue.PAGES, partial(SessionCache, SECONDS, MOST, serves_stale=True))


def read(client: Deals, search: ListSearch, offset: int, limit: int) -> RowsPage:
    """Some rows, with what they are linked with."""
    params = search.found_by | {"ordering": search.ordering}
    found = client.list(MODELS[search.entity], limit=limit, offset=offset, **params)
    return RowsPage(found.count, tuple(_rows(client, found.results)))


def everything(client: Deals, search: ListSearch) -> Iterator[DealRow]:
    """All rows of the list, page after page; a package of several deals is read once."""
    seen, known_packages = 0, _KnownPackages(client)
    while True:
        params = search.found_by | {"ordering": search.ordering}
        found = client.list(MODELS[search.entity], limit=LARGEST_PAGE, offset=seen, **params)
        yield from _rows(client, found.results, known_packages)
        seen += len(found.results)
        if not found.results or seen >= found.count:
            return


def rows_by_name(client: Deals, search: ListSearch, **more: Any) -> Iterator[DealRow]:
    """All rows of the list that also have these values, as far as they are known by themselves."""
    for one in client.everything(MODELS[search.entity], ordering="id", **search.found_by, **more):
        yield of_package(one, ()) if isinstance(one, SupplyPackage) else of_deal(one, {})


def deals_of(client: Deals, packages: Sequence[SupplyPackage]) -> dict[int, list[DemandDeal]]:
    """The deals of packages, by package id; of those not listed, what the packages say."""
    sold = [one.id for one in packages if one.demand_deals and one.id is not None]
    known: dict[int | None, DemandDeal] = {}
    for first in range(0, len(sold), TOGETHER):
        some = sold[first : first + TOGETHER]
        known |= {one.id: one for one in client.everything(DemandDeal, supply_deals=some, ordering="id")}
    return {
        one.id or 0: [
            known.get(link.id) or DemandDeal(id=link.id, name=link.name) for link in one.demand_deals
        ]
        for one in packages
    }


def of_ids(client: Deals, model: type[Any], ids: Sequence[int]) -> tuple[Any, ...]:
    """Those of these ids that are there, read now."""
    parts = (ids[first : first + TOGETHER] for first in range(0, len(ids), TOGETHER))
    return tuple(one for part in parts for one in client.list(model, id=part, limit=LARGEST_PAGE).results)


class _KnownPackages(dict[int | None, SupplyPackage]):
    """The packages of deals by id, read as they are needed, and their targeting in words."""

    def __init__(self, client: Deals) -> None:
        super().__init__()
        self._client = client
        self.sentence = lru_cache(maxsize=None)(self._sentence)

    def read(self, deals: Sequence[DemandDeal]) -> None:
        """Read the first package of each of these that is not known."""
        ids = dict.fromkeys(one.supply_deals[0].id for one in deals if one.supply_deals)
        missing = [one for one in ids if one and one not in self]
        self.update({one.id: one for one in of_ids(self._client, SupplyPackage, missing)})

    def words(self, package: SupplyPackage) -> str:
        """Its targeting."""
        return self.sentence(package.id)

    def _sentence(self, package: int | None) -> str:
        return words.sentence(self[package])


def _rows(client: Deals, found: Found, known_packages: _KnownPackages | None = None) -> Iterator[DealRow]:
    packages = [one for one in found if isinstance(one, SupplyPackage)]
    deals = [one for one in found if isinstance(one, DemandDeal)]
    of = deals_of(client, packages)
    yield from (of_package(one, of[one.id or 0]) for one in packages)
    if deals:
        known_packages = _KnownPackages(client) if known_packages is None else known_packages
        known_packages.read(deals)
        yield from (of_deal(one, known_packages, known_packages.words) for one in deals)


def _statuses(client: Deals, search: ListSearch) -> dict[str, int]:
    model = MODELS[search.entity]
    if client.abilities.finds:
        return dict(client.list(model, limit=1, counts="status", **search.found_by).counts.get("status", {}))
    counted = {one: client.list(model, limit=1, status=one, **search.found_by).count for one in STATUSES}
    return {status: number for status, number in counted.items() if number}
