"""What DSPs were told and what they said: a row per deal and seat, kept when the deal is gone.

`document` is what a DSP has, or may have. Where we send it (push.py): it is written before it is sent, and is
`due` until it has arrived, after so many `attempts` with the last one's `problem`. What changed before
`changed_from` is in it. `asked_at` is when the DSP was asked for its status.

What a DSP was told must be taken back when it ends: so a deal that was fetched and then deleted, or given to
another seat, is told as archived. What was never fetched needs no taking back.
"""

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from sqlalchemy import Row, bindparam, insert, select, update

from lib.deals.models import BUYER_STATUS, shorten
from lib.deals.store.tables import LONGEST_REASON, synced_deals
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems
from lib.deals.values import Request, Value, whole

MOST_STATUSES = 100
SUCCESS = {"due": None, "attempts": 0, "problem": None}
Status = Annotated[int, Field(ge=0, le=len(BUYER_STATUS) - 1), BeforeValidator(whole)]
_COLUMNS = synced_deals.c


class BuyerStatusRequest(Request, title="BuyerStatus"):
    """The status of a deal at one seat; of `ext` its `reason` is read, a text."""

    buyerseatid: Value | None = None
    status: Status
    ext: dict[str, Any] | None = None


class BuyerSeatRequest(Request, title="BuyerSeat"):
    """The status of a deal in the buyer's system; `ext` is not read."""

    version: Literal["1.0"]
    id: Value
    buyerstatus: Annotated[list[BuyerStatusRequest], Field(min_length=1, max_length=MOST_STATUSES)]
    ext: dict[str, Any] | None = None


def status_of(report: Fields, deal_id: str, seat: str, problems: Problems) -> tuple[int, str | None]:
    """The status at this seat (its id at the DSP), and its reason, cut where it is too long.

    Adds what does not belong to this deal and seat.
    """
    if report.get("id", deal_id) != deal_id:
        problems.add(("id",), f"This must be the deal of the address, {deal_id}.")
    statuses = report.get("buyerstatus") or []
    for number, status in enumerate(statuses):
        path = ("buyerstatus", number, "buyerseatid")
        if status.get("buyerseatid") not in (None, seat):
            problems.add(path, f"This deal is for the seat '{seat}'.")
        elif number:
            problems.add(path, "A deal has one seat, and so one status.")
    problems.check()
    reason = (statuses[0].get("ext") or {}).get("reason")
    return int(statuses[0]["status"]), shorten(reason, LONGEST_REASON) if isinstance(reason, str) else None


@dataclass(frozen=True)
class SyncedDeal:
    """A deal as its seat's DSP is told of it; `buyer_seat` is the seat's id there.

    `is_gone`: it was deleted, or given to another seat, since it was told.
    """

    deal_id: str
    seat_id: int
    demand_deal_id: int
    buyer_seat: str
    document: Fields
    is_gone: bool = False


@dataclass(frozen=True)
class SyncState:
    """When and by whom a deal was fetched last, and the status (a number) that was reported of it last.

    `sent_at` is when it was sent last; `due` when it will be, where it could not be sent for the `problem`.
    """

    fetched_at: datetime | None = None
    fetched_by: str | None = None
    status: int | None = None
    status_at: datetime | None = None
    status_by: str | None = None
    status_reason: str | None = None
    sent_at: datetime | None = None
    due: datetime | None = None
    problem: str | None = None


def sync_state(work: Work, deal: SyncedDeal) -> SyncState:
    """What is known of it."""
    row = rows_of(work, [deal.deal_id]).get((deal.deal_id, deal.seat_id))
    return SyncState() if row is None else _sync_state(row)


def rows_of(work: Work, deal_ids: Collection[str]) -> dict[tuple[str, int], Row[Any]]:
    """Deal id and seat → row, of these deals."""
    question = select(synced_deals).where(_COLUMNS.deal_id.in_(deal_ids))
    return {(row.deal_id, row.seat_id): row for row in work.rows(question)}


def note_fetch(work: Work, deals: Sequence[SyncedDeal], who: str) -> None:
    """Store that a DSP, with the token `who`, was sent these documents now."""
    write(work, deals, SUCCESS | {"fetched_at": work.now, "fetched_by": who})


def note_status(work: Work, deal: SyncedDeal, status: tuple[int, str | None], who: str) -> None:
    """Store the status, and its reason, that a DSP, with the token `who`, reports now.

    Of a deal that it was not told by us the document is due.
    """
    number, reason = status
    fields = {"status": number, "status_at": work.now, "status_by": who, "status_reason": reason}
    mine = (_COLUMNS.deal_id == deal.deal_id, _COLUMNS.seat_id == deal.seat_id)
    if not work.connection.execute(update(synced_deals).where(*mine).values(fields)).rowcount:
        write(work, [deal], fields | {"due": work.now})


def write(work: Work, deals: Sequence[SyncedDeal], fields: Fields) -> None:
    """Write these fields of these deals, and their documents."""
    ids = {deal.deal_id for deal in deals}
    rows = work.rows(select(_COLUMNS.deal_id, _COLUMNS.seat_id).where(_COLUMNS.deal_id.in_(ids)))
    pairs = {(row.deal_id, row.seat_id) for row in rows}
    old = [deal for deal in deals if (deal.deal_id, deal.seat_id) in pairs]
    if new := [deal for deal in deals if (deal.deal_id, deal.seat_id) not in pairs]:
        values = [{"deal_id": deal.deal_id, "seat_id": deal.seat_id, **_own(deal), **fields} for deal in new]
        work.connection.execute(insert(synced_deals), values)
    if old:
        these = _COLUMNS.deal_id == bindparam("its_deal"), _COLUMNS.seat_id == bindparam("its_seat")
        values = [
            {"its_deal": deal.deal_id, "its_seat": deal.seat_id, **_own(deal), **fields} for deal in old
        ]
        work.connection.execute(update(synced_deals).where(*these), values)


def _own(deal: SyncedDeal) -> Fields:
    return {
        "demand_deal_id": deal.demand_deal_id,
        "buyer_seat": deal.buyer_seat,
        "document": deal.document,
        "is_archived": deal.is_gone,
    }


def _sync_state(row: Row[Any]) -> SyncState:
    return SyncState(**{field.name: row._mapping[field.name] for field in dataclasses.fields(SyncState)})
