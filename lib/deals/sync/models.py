"""The status of a deal in its buyer's system, as it travels: the objects BuyerSeat and BuyerStatus."""

from datetime import datetime

from lib.deals.models import BUYER_STATUS, WireModel


class StatusReport(WireModel):
    """When a status was reported, with which token, and why."""

    reported_at: datetime | None = None
    reported_by: str | None = None
    reason: str | None = None


class BuyerStatus(WireModel):
    """The status at a seat, by the seat's id at the DSP."""

    buyerseatid: str | None = None
    status: int
    ext: StatusReport = StatusReport()

    @property
    def words(self) -> str:
        """The status in words."""
        has_words = 0 <= self.status < len(BUYER_STATUS)
        return BUYER_STATUS[self.status] if has_words else f"status {self.status}"


class Delivery(WireModel):
    """When the deal's document was fetched last, and with which token; and when it was sent to the DSP.

    Where it could not be sent, `problem` says why, and `next_try` when it is sent again.
    """

    fetched_at: datetime | None = None
    fetched_by: str | None = None
    sent_at: datetime | None = None
    problem: str | None = None
    next_try: datetime | None = None


class BuyerSeat(WireModel):
    """What the DSP reported of a deal: nothing yet where `buyerstatus` is empty."""

    id: str
    buyerstatus: tuple[BuyerStatus, ...] = ()
    ext: Delivery = Delivery()
