"""Deal sync: documents of the deals that a caller may see, and the status that a DSP reports.

The deals that a caller's DSPs are told: those with deal sync, and those that they were told before: paused
once their deal sync is switched off, archived once they are gone.

A seat without an id at its DSP can't be named in a document, and one without a seat would be for everybody:
so its deals wait until it has one.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import (
    CompoundSelect,
    Engine,
    Row,
    Select,
    and_,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    union_all,
)

from lib import database
from lib.deals import queries
from lib.deals.models import BUYER_STATUS, shorten
from lib.deals.queries import ListOffer, ListPage, ListQuery
from lib.deals.service import DealsRequest
from lib.deals.store import status
from lib.deals.store import tables as t
from lib.deals.store.work import Fields, Work
from lib.deals.sync import documents, sync_state
from lib.deals.sync.documents import VERSION, SellingSide, moment
from lib.deals.sync.sync_state import BuyerSeatRequest, SyncedDeal, SyncKey, status_of
from lib.deals.validation import Problems, read
from lib.wire.errors import NotFound

SEAT = "seat"
_DEALS, _SYNC = t.demand_deals.c, t.synced_deals.c
_IS_PAIR = and_(_SYNC.deal_id == _DEALS.deal_id, _SYNC.seat_id == _DEALS.seat_id)
_IS_SYNCHRONIZED = and_(_DEALS.deal_sync, t.seats.c.external_id.is_not(None))
Result = TypeVar("Result")
OFFER = ListOffer(filters=(SEAT,))
HISTORY, LONGEST_WHO = "buyer_status", 64


def page(work: Work, side: SellingSide, query: ListQuery) -> tuple[int, list[SyncedDeal]]:
    """How many there are, and a page of them by their deal ids; of the seats in the filter, if it is set."""
    pairs = _pairs(work, buyer_seats=query.filters.get(SEAT)).subquery()
    count = work.connection.execute(select(func.count()).select_from(pairs)).scalar_one()
    order = (pairs.c.deal_id, pairs.c.seat_id)
    rows = work.rows(select(pairs).order_by(*order).limit(query.limit).offset(query.offset))
    return count, documents_of(work, side, rows)


def _pairs(
    work: Work, deal_id: str | None = None, buyer_seats: Sequence[str] | None = None
) -> CompoundSelect[Any]:
    """Deal id, seat, number of the demand deal, and whether it is gone; one row for a deal at a seat."""
    present, removals = present_deals().where(*work.scope.visibility(t.demand_deals)), removed_deals()
    if work.scope.seats is not None:
        removals = removals.where(_SYNC.seat_id.in_(work.scope.seats))
    if deal_id is not None:
        present, removals = present.where(_DEALS.deal_id == deal_id), removals.where(_SYNC.deal_id == deal_id)
    if buyer_seats is not None:
        present = present.where(func.coalesce(t.seats.c.external_id, _SYNC.buyer_seat).in_(buyer_seats))
        removals = removals.where(_SYNC.buyer_seat.in_(buyer_seats))
    return union_all(present, removals)


def present_deals() -> Select[Any]:
    """Those of the deals that there are; with their rows of seats and synced_deals."""
    return (
        select(_DEALS.deal_id, _DEALS.seat_id, _DEALS.id.label("number"), literal(0).label("is_gone"))
        .join(t.seats, t.seats.c.id == _DEALS.seat_id)
        .outerjoin(t.synced_deals, _IS_PAIR)
        .where(or_(_IS_SYNCHRONIZED, _SYNC.deal_id.is_not(None)))
    )


def removed_deals() -> Select[Any]:
    """Those that were told before and are not there any more, or not at this seat."""
    has_deal = exists().where(_IS_PAIR).correlate(t.synced_deals)
    return select(
        _SYNC.deal_id, _SYNC.seat_id, _SYNC.demand_deal_id.label("number"), literal(1).label("is_gone")
    ).where(~has_deal)


def documents_of(work: Work, side: SellingSide, pairs: Sequence[Row[Any]]) -> list[SyncedDeal]:
    """Pairs (`deal_id`, `seat_id`, `number` of the demand deal, `is_gone`) with their documents, in order."""
    numbers = [pair.number for pair in pairs if not pair.is_gone]
    question = (
        select(*t.DEAL_COLUMNS, t.seats.c.external_id, status.of_deal(work.now).label("status"))
        .join(t.seats, t.seats.c.id == _DEALS.seat_id)
        .where(_DEALS.id.in_(numbers))
    )
    link, package = t.supply_package_deals.c, t.supply_packages.c
    columns = (package.media_type, package.start_date, package.end_date, package.geo_targetings)
    of_deals: Select[Any] = (
        select(link.demand_deal_id, *columns)
        .join(t.supply_packages, package.id == link.supply_package_id)
        .where(link.demand_deal_id.in_(numbers))
    )
    rows_of: dict[int, list[Row[Any]]] = defaultdict(list)
    for link_row in work.rows(of_deals) if numbers else ():
        rows_of[link_row.demand_deal_id].append(link_row)
    rows, packages = work.rows(question) if numbers else [], rows_of
    is_synchronized = {row.id: row.deal_sync and row.external_id is not None for row in rows}
    ids = [pair.deal_id for pair in pairs if pair.is_gone]
    ids += [row.deal_id for row in rows if not is_synchronized[row.id]]
    last_rows = sync_state.rows_of(work, ids) if ids else {}
    last = {key: SyncedDeal.of_row(row) for key, row in last_rows.items()}
    deals: dict[SyncKey, SyncedDeal] = {}
    for row in rows:
        key = row.deal_id, row.seat_id
        if is_synchronized[row.id]:
            document = documents.document(side, row, packages[row.id])
            deals[key] = SyncedDeal(row.deal_id, row.seat_id, row.id, row.external_id, document)
        else:
            # Withdrawn: the document that was sent last, paused, since an archived one can't be active again.
            document = last[key].document
            is_over = document["sellerstatus"] in (documents.COMPLETE, documents.ARCHIVED)
            withdrawal = document if is_over else document | {"sellerstatus": documents.PAUSED}
            deals[key] = replace(last[key], document=withdrawal)
    for key in ((pair.deal_id, pair.seat_id) for pair in pairs if pair.is_gone):
        archive = last[key].document | {"sellerstatus": documents.ARCHIVED}
        deals[key] = replace(last[key], document=archive, is_gone=True)
    return [deals[pair.deal_id, pair.seat_id] for pair in pairs]


def who(name: str, number: str) -> str:
    """Who reports a status, for the history: `Alder Bidder (token 12)`. No username has a space."""
    return f"{shorten(name, LONGEST_WHO - len(number) - 3)} ({number})"


class DealSync:
    """The documents and statuses in the database. Safe among threads. NotFound if it is not set up.

    `dsp` is `who` asks if that is a DSP, else empty: what people read is not noted as a fetch.
    """

    def __init__(self, engine: Engine, side: SellingSide) -> None:
        self._engine, self._side = engine, side

    def page(self, request: DealsRequest, dsp: str) -> ListPage:
        problems = Problems()
        query = queries.query(request.parameters, problems, OFFER)

        def within(work: Work) -> ListPage:
            problems.check()
            count, synced_deals = page(work, self._side, query)
            if dsp:
                sync_state.note_fetch(work, synced_deals, dsp)
            return ListPage(count, query.limit, query.offset, [deal.document for deal in synced_deals])

        return self._run(within, request, writes=bool(dsp))

    def get(self, deal_id: str, request: DealsRequest, dsp: str) -> Fields:
        def within(work: Work) -> Fields:
            synced_deal = self._find(work, deal_id, request)
            if dsp:
                sync_state.note_fetch(work, [synced_deal], dsp)
            return synced_deal.document

        return self._run(within, request, writes=bool(dsp))

    def status(self, deal_id: str, request: DealsRequest) -> Fields:
        """What the DSP reported last, as a BuyerSeat; its `ext` says when it was fetched and reported.

        Without a reported status its list is empty.
        """

        def within(work: Work) -> Fields:
            deal = self._find(work, deal_id, request)
            body: Fields = {"version": VERSION, "id": deal.deal_id, "buyerstatus": [], "ext": {}}
            if (row := _row(work, deal)) is None:
                return body
            if row.status_at:
                reason = {"reason": row.status_reason} if row.status_reason else {}
                status_ext = {"reported_at": moment(row.status_at), "reported_by": row.status_by, **reason}
                status = {"buyerseatid": deal.buyer_seat, "status": row.status, "ext": status_ext}
                body["buyerstatus"].append(status)
            if row.fetched_at:
                body["ext"] |= {"fetched_at": moment(row.fetched_at), "fetched_by": row.fetched_by}
            if row.sent_at:
                body["ext"]["sent_at"] = moment(row.sent_at)
            if row.problem and row.due:
                body["ext"] |= {"problem": row.problem, "next_try": moment(row.due)}
            return body

        return self._run(within, request)

    def report(self, deal_id: str, request: DealsRequest, dsp: str) -> None:
        """Store the status that a DSP reports, and note it in the deal's history if it is another one."""

        def within(work: Work) -> None:
            take_status(work, self._find(work, deal_id, request), request.body, dsp)

        self._run(within, request, writes=True)

    def _find(self, work: Work, deal_id: str, request: DealsRequest) -> SyncedDeal:
        rows = work.rows(select(_pairs(work, deal_id=deal_id).subquery()))
        # As it is, rather than as it was at a seat that it left.
        rows.sort(key=lambda row: (row.is_gone, row.seat_id))
        synced_deals = documents_of(work, self._side, rows[:1])
        if not synced_deals:
            raise NotFound(f"There is no synchronized deal '{deal_id}'")
        request.problems().check()
        return synced_deals[0]

    def _run(
        self, within: Callable[[Work], Result], request: DealsRequest, *, writes: bool = False
    ) -> Result:
        if not self._side.origin:
            raise NotFound("Deal sync is not set up here: an administrator sets deal_sync_origin")
        run = database.transact if writes else database.reading
        return run(
            self._engine, lambda connection: within(Work.of(connection, request.scope)), request.deadline
        )


def take_status(work: Work, deal: SyncedDeal, body: object, dsp: str) -> None:
    """Store the status in a BuyerSeat that `dsp` reports; another one is a line in the deal's history."""
    problems = Problems()
    fields = read(BuyerSeatRequest, body, problems)
    status = status_of(fields, deal.deal_id, deal.buyer_seat, problems)
    row = _row(work, deal)
    before = (None, None) if row is None else (row.status, row.status_reason)
    sync_state.note_status(work, deal, status, dsp)
    if status != before and not deal.is_gone:
        # The deal itself is not changed, so its version stays.
        version = select(_DEALS.version).where(_DEALS.id == deal.demand_deal_id)
        values = {
            "entity": "demand_deals", "entity_id": deal.demand_deal_id,
            "version": work.connection.execute(version).scalar_one(), "at": work.now, "who": dsp,
            "action": "changed", "before": {HISTORY: _in_words(*before)},
            "after": {HISTORY: _in_words(*status)},
        }  # fmt: skip
        work.connection.execute(insert(t.changes).values(values))


def _row(work: Work, deal: SyncedDeal) -> Row[Any] | None:
    return sync_state.rows_of(work, [deal.deal_id]).get(deal.key)


def _in_words(status: int | None, reason: str | None) -> str | None:
    """`rejected: over budget`."""
    if status is None:
        return None
    return f"{BUYER_STATUS[status]}: {reason}" if reason else BUYER_STATUS[status]
