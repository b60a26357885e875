"""The deals that a caller's DSPs are told: those with deal sync, and those that they were told and are gone.

A seat without an id at its DSP can't be named in a document, and one without a seat would be for everybody:
so its deals wait until it has one.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import CompoundSelect, Row, Select, exists, func, literal, select, union_all

from lib.deals.queries import ListQuery
from lib.deals.store import status
from lib.deals.store.tables import demand_deals, seats, supply_package_deals, supply_packages
from lib.deals.store.work import Work
from lib.deals.sync import documents
from lib.deals.sync.documents import SellingSide
from lib.deals.sync.told import SyncedDeal, synced_deals

SEAT = "seat"
_DEALS, _TOLD = demand_deals.c, synced_deals.c


def page(work: Work, side: SellingSide, query: ListQuery) -> tuple[int, list[SyncedDeal]]:
    """How many there are, and a page of them by their deal ids; of the seats in the filter, if it is set."""
    pairs = _pairs(work, buyer_seats=query.filters.get(SEAT)).subquery()
    count = work.connection.execute(select(func.count()).select_from(pairs)).scalar_one()
    order = (pairs.c.deal_id, pairs.c.seat_id)
    rows = work.rows(select(pairs).order_by(*order).limit(query.limit).offset(query.offset))
    return count, _shown(work, side, rows)


def one(work: Work, side: SellingSide, deal_id: str) -> SyncedDeal | None:
    """The deal of this id, as it is rather than as it was at a seat that it left; None without one."""
    rows = work.rows(select(_pairs(work, deal_id=deal_id).subquery()))
    found = _shown(work, side, sorted(rows, key=lambda row: (row.is_gone, row.seat_id))[:1])
    return found[0] if found else None


def _pairs(
    work: Work, deal_id: str | None = None, buyer_seats: Sequence[str] | None = None
) -> CompoundSelect[Any]:
    """Deal id, seat, number of the demand deal, and whether it is gone; one row for a deal at a seat."""
    there = (
        select(_DEALS.deal_id, _DEALS.seat_id, _DEALS.id.label("number"), literal(0).label("is_gone"))
        .join(seats, seats.c.id == _DEALS.seat_id)
        .where(_DEALS.deal_sync, seats.c.external_id.is_not(None), *work.scope.seen(demand_deals))
    )
    still = exists().where(_DEALS.deal_id == _TOLD.deal_id, _DEALS.seat_id == _TOLD.seat_id)
    gone = select(_TOLD.deal_id, _TOLD.seat_id, _TOLD.demand_deal_id.label("number"), literal(1)).where(
        ~still
    )
    if work.scope.seats is not None:
        gone = gone.where(_TOLD.seat_id.in_(work.scope.seats))
    if deal_id is not None:
        there, gone = there.where(_DEALS.deal_id == deal_id), gone.where(_TOLD.deal_id == deal_id)
    if buyer_seats is not None:
        there = there.where(seats.c.external_id.in_(buyer_seats))
        gone = gone.where(_TOLD.buyer_seat.in_(buyer_seats))
    return union_all(there, gone)


def _shown(work: Work, side: SellingSide, pairs: Sequence[Row[Any]]) -> list[SyncedDeal]:
    """The pairs with their documents, in their order."""
    there = _current(work, side, [pair.number for pair in pairs if not pair.is_gone])
    gone = _archived(work, [pair.deal_id for pair in pairs if pair.is_gone])
    return [
        gone[pair.deal_id, pair.seat_id] if pair.is_gone else there[pair.deal_id, pair.seat_id]
        for pair in pairs
    ]


def _current(work: Work, side: SellingSide, numbers: Sequence[int]) -> dict[tuple[str, int], SyncedDeal]:
    """The documents of the deals as they are."""
    question = (
        select(demand_deals, seats.c.external_id, status.of_deal(work.now).label("status"))
        .join(seats, seats.c.id == _DEALS.seat_id)
        .where(_DEALS.id.in_(numbers))
    )
    packages = _packages(work, numbers)
    return {
        (row.deal_id, row.seat_id): SyncedDeal(
            row.deal_id,
            row.seat_id,
            row.id,
            row.external_id,
            documents.document(side, row, packages[row.id]),
        )
        for row in (work.rows(question) if numbers else ())
    }


def _packages(work: Work, numbers: Sequence[int]) -> dict[int, list[Row[Any]]]:
    """Number of a demand deal → the rows of its supply packages."""
    link, package = supply_package_deals.c, supply_packages.c
    columns = (package.media_type, package.start_date, package.end_date, package.geo_targetings)
    question: Select[Any] = (
        select(link.demand_deal_id, *columns)
        .join(supply_packages, package.id == link.supply_package_id)
        .where(link.demand_deal_id.in_(numbers))
    )
    found: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in work.rows(question) if numbers else ():
        found[row.demand_deal_id].append(row)
    return found


def _archived(work: Work, deal_ids: Sequence[str]) -> dict[tuple[str, int], SyncedDeal]:
    """What was told last of deals that are gone."""
    rows = work.rows(select(synced_deals).where(_TOLD.deal_id.in_(deal_ids))) if deal_ids else ()
    return {
        (row.deal_id, row.seat_id): SyncedDeal(
            row.deal_id,
            row.seat_id,
            row.demand_deal_id,
            row.buyer_seat,
            documents.archived(row.document),
            is_gone=True,
        )
        for row in rows
    }
