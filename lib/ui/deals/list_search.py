"""The request for a list: kind, search, filters, order and page, as the service takes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lib.deals.abilities import Abilities
from lib.deals.models import DemandDeal, SupplyPackage
from lib.reporting.models import Direction

PAGE = 50
NEWEST: tuple[str, Direction] = ("id", "desc")
MODELS: dict[str, type[SupplyPackage] | type[DemandDeal]] = {
    "supply_deals": SupplyPackage,
    "demand_deals": DemandDeal,
}
FILTERS = {"supply_deals": ("status", "media_type"), "demand_deals": ("status", "seat", "dsp")}
LINKED = {"supply_deals": ("seat", "dsp"), "demand_deals": ("media_type",)}
ORDERS = {
    "supply_deals": ("name", "status", "media_type", "start_date", "end_date", "id"),
    "demand_deals": ("name", "status", "price", "deal_id", "id"),
}
LINKED_ORDERS = {"supply_deals": ("price",), "demand_deals": ("seat", "media_type", "start_date", "end_date")}
HEALTH, REPORT = "health", "report"


@dataclass(frozen=True)
class ListSearch:
    """One page of one kind: `meanings` as the service's `meaning`, `filters` by name (see FILTERS).

    Among them may be `report`, which leaves out nothing: it says what health is read from.
    """

    entity: str = "supply_deals"
    text: str = ""
    meanings: tuple[str, ...] = ()
    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    order: tuple[str, Direction] = NEWEST
    page: int = 0

    @property
    def is_narrowed(self) -> bool:
        """Whether not everything is wanted."""
        return bool(self.text or any(values for name, values in self.filters if name != REPORT))

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
        kept = tuple(
            (name, values) for name, values in self.filters if name in available_filters(entity, does)
        )
        return replace(self, entity=entity, filters=kept, order=NEWEST, page=0)


def available_filters(entity: str, does: Abilities) -> tuple[str, ...]:
    """The filters of a list, as far as the service has them."""
    return FILTERS[entity] + (LINKED[entity] if does.finds else ())


def orders(entity: str, does: Abilities) -> frozenset[str]:
    """The orders of a list, as far as the service has them."""
    linked = LINKED_ORDERS[entity] if does.finds else ()
    health = (HEALTH,) if entity == DemandDeal.entity and does.is_own else ()
    return frozenset(ORDERS[entity] + linked + health)


def read_order(text: str, entity: str, does: Abilities) -> tuple[str, Direction]:
    """`-price` → by price, falling; the newest first for what is none."""
    name, direction = text.removeprefix("-"), "desc" if text.startswith("-") else "asc"
    return (name, direction) if name in orders(entity, does) else NEWEST  # type: ignore[return-value]


def words(text: str) -> Iterator[str]:
    """The words of a search that may stand for places."""
    yield from dict.fromkeys(word.casefold() for word in text.split() if len(word) > 2 and ":" not in word)


def active_filters(
    filters: Mapping[str, list[str]], entity: str, does: Abilities
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The filters that this list has, of those that are set."""
    return tuple((name, tuple(filters.get(name) or ())) for name in available_filters(entity, does))
