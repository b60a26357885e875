"""What DSPs were told and what they said: a row per deal and seat, kept when the deal is gone.

`document` is what a DSP has, or may have. Where we send it (push.py): it is written before it is sent, and is
`due` until it has arrived, after so many `attempts` with the last one's `problem`. What changed before
`changed_from` is in it. `asked_at` is when the DSP was asked for its status.

What a DSP was told must be taken back when it ends: so a deal that was fetched and then deleted, or given to
another seat, is told as archived. What was never fetched needs no taking back.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field
from sqlalchemy import ColumnElement, Row, bindparam, insert, select, update

from lib.deals.models import BUYER_STATUS, shorten
from lib.deals.store.tables import LONGEST_REASON, synced_deals
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems
from lib.deals.values import Request, Value, whole

MOST_STATUSES = 100
SUCCESS = {"due": None, "attempts": 0, "problem": None}
Status = Annotated[int, Field(ge=0, le=len(BUYER_STATUS) - 1), BeforeValidator(whole)]
_COLUMNS = synced_deals.c
SyncKey = tuple[str, int]


class BuyerStatusRequest(Request):
    """The status of a deal at one seat; of `ext` its `reason` is read, a text."""

    buyerseatid: Value | None = None
    status: Status
    ext: dict[str, Any] | None = None


class BuyerSeatRequest(Request):
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

    @classmethod
    def of_row(cls, row: Row[Any]) -> Self:
        """The deal of a row, as it was told last."""
        return cls(row.deal_id, row.seat_id, row.demand_deal_id, row.buyer_seat, row.document)

    @property
    def key(self) -> SyncKey:
        """Its deal id, and its seat's id here: those of its row."""
        return self.deal_id, self.seat_id

    @property
    def is_row(self) -> ColumnElement[bool]:
        return (_COLUMNS.deal_id == self.deal_id) & (_COLUMNS.seat_id == self.seat_id)


def rows_of(work: Work, deal_ids: Collection[str]) -> dict[SyncKey, Row[Any]]:
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
    if not work.connection.execute(update(synced_deals).where(deal.is_row).values(fields)).rowcount:
        write(work, [deal], fields | {"due": work.now})


def write(work: Work, deals: Sequence[SyncedDeal], fields: Fields) -> None:
    """Write these fields of these deals, and their documents."""
    its_row = select(_COLUMNS.deal_id, _COLUMNS.seat_id)
    rows = work.rows(its_row.where(_COLUMNS.deal_id.in_({deal.deal_id for deal in deals})))
    keys = {(row.deal_id, row.seat_id) for row in rows}
    values = {
        deal.key: {
            "demand_deal_id": deal.demand_deal_id, "buyer_seat": deal.buyer_seat, "document": deal.document,
            "is_archived": deal.is_gone, **fields,
        }
        for deal in deals
    }  # fmt: skip
    new = [{"deal_id": key[0], "seat_id": key[1], **own} for key, own in values.items() if key not in keys]
    old = [{"its_deal": key[0], "its_seat": key[1], **own} for key, own in values.items() if key in keys]
    if new:
        work.connection.execute(insert(synced_deals), new)
    if old:
        these = _COLUMNS.deal_id == bindparam("its_deal"), _COLUMNS.seat_id == bindparam("its_seat")
        work.connection.execute(update(synced_deals).where(*these), old)
