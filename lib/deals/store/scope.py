"""The deals that a caller may see, as conditions for the database.

A deal is seen by who may see its seat. A package is seen by who may see one of its deals, or made it. A DSP
is seen with its seats. Lists of domains and apps belong to no seat: everybody who may see deals sees them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, or_, select

from lib.deals.store.tables import demand_deals, dsps, packages, seats, supply_package_deals, supply_packages

Condition = ColumnElement[bool]


@dataclass(frozen=True)
class DealsScope:
    """The caller, and the seats (by id) whose deals they may see; None: all seats.

    `since` is when that person was added: what a namesake made before is not theirs. `token` is the number
    of a token that is itself for some seats alone: of the packages it sees those that it made, not those
    that its owner made otherwise. `may_see` says whether they may see a slicer (project, name).
    """

    who: str = ""
    seats: frozenset[int] | None = None
    since: datetime | None = None
    token: int | None = None
    may_see: Callable[[str, str], bool] = lambda project, slicer: True

    @property
    def is_limited(self) -> bool:
        """Whether the caller is limited to some seats."""
        return self.seats is not None

    def seen(self, table: Table) -> tuple[Condition, ...]:
        """Conditions on a table for the entities that the caller may see; none if they see all."""
        if self.seats is None or table.name not in _SEEN:
            return ()
        return (_SEEN[table.name](self),)

    def has_seat(self, seat_id: int | None) -> bool:
        """Whether the caller may see the deals of this seat."""
        return self.seats is None or seat_id in self.seats

    def made(self, table: Table) -> Condition:
        """The condition for packages that the caller created."""
        if self.token is not None:
            return table.c.made_with == self.token
        mine = table.c.made_by == self.who
        return mine if self.since is None else and_(mine, table.c.created_at >= self.since)


def _of_seats(scope: DealsScope, *columns: ColumnElement[Any]) -> Select[Any]:
    """These columns of the deals that may be seen."""
    return select(*columns).where(demand_deals.c.seat_id.in_(scope.seats or ()))


def _supply(scope: DealsScope) -> Condition:
    links = supply_package_deals.c
    sold = _of_seats(scope, links.supply_package_id).join(
        supply_package_deals, links.demand_deal_id == demand_deals.c.id
    )
    return or_(supply_packages.c.id.in_(sold), scope.made(supply_packages))


def _packages(scope: DealsScope) -> Condition:
    column = demand_deals.c.package_id
    return or_(packages.c.id.in_(_of_seats(scope, column).where(column.is_not(None))), scope.made(packages))


_SEEN: dict[str, Callable[[DealsScope], Condition]] = {
    "demand_deals": lambda scope: demand_deals.c.seat_id.in_(scope.seats or ()),
    "supply_packages": _supply,
    "packages": _packages,
    "seats": lambda scope: seats.c.id.in_(scope.seats or ()),
    "dsps": lambda scope: dsps.c.id.in_(select(seats.c.dsp_id).where(seats.c.id.in_(scope.seats or ()))),
}
