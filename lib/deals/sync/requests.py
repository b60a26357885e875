"""What a DSP reports: the specification's objects BuyerSeat and BuyerStatus, strictly read."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from lib.deals.store.work import Fields
from lib.deals.sync.models import BUYER_STATUS
from lib.deals.validation import Problems
from lib.deals.values import Request, Value, whole

MOST_STATUSES = 100
Status = Annotated[int, Field(ge=0, le=len(BUYER_STATUS) - 1), BeforeValidator(whole)]


class BuyerStatusRequest(Request, title="BuyerStatus"):
    """The status of a deal at one seat; `ext` is not read."""

    buyerseatid: Value | None = None
    status: Status
    ext: dict[str, Any] | None = None


class BuyerSeatRequest(Request, title="BuyerSeat"):
    """The status of a deal in the buyer's system; `ext` is not read."""

    version: Literal["1.0"]
    id: Value
    buyerstatus: Annotated[list[BuyerStatusRequest], Field(min_length=1, max_length=MOST_STATUSES)]
    ext: dict[str, Any] | None = None


def status_of(fields: Fields, deal_id: str, seat: str, problems: Problems) -> int:
    """The status at this seat (its id at the DSP). Adds what does not belong to this deal and seat."""
    if fields.get("id", deal_id) != deal_id:
        problems.add(("id",), f"This must be the deal of the address, {deal_id}.")
    reported = fields.get("buyerstatus") or []
    for number, one in enumerate(reported):
        place = ("buyerstatus", number, "buyerseatid")
        if one.get("buyerseatid") not in (None, seat):
            problems.add(place, f"This deal is for the seat '{seat}'.")
        elif number:
            problems.add(place, "A deal has one seat, and so one status.")
    problems.check()
    return int(reported[0]["status"])
