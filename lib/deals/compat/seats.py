"""The seats of a service without a list of them: those in the settings, and in its responses."""

from collections.abc import Iterable
from typing import Protocol

from lib.deals.models import DemandDeal, Dsp, Seat


class Configured(Protocol):
    """A seat as the settings name it: its id and name; of its DSP what is known."""

    @property
    def id(self) -> int: ...  # noqa: D102
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def dsp_id(self) -> int | None: ...  # noqa: D102
    @property
    def dsp(self) -> str | None: ...  # noqa: D102
    @property
    def deal_sync(self) -> bool | None: ...  # noqa: D102


def seats_of(configured: Iterable[Configured]) -> tuple[Seat, ...]:
    """The settings' seats as the API would show them."""
    return tuple(Seat(id=one.id, name=one.name, dsp=_dsp(one)) for one in configured)


def together(configured: Iterable[Seat], deals: Iterable[DemandDeal]) -> dict[int, Seat]:
    """Seats by id; the settings take precedence over responses."""
    by_id: dict[int, Seat] = {}
    for deal in deals:
        if deal.seat is not None and deal.seat.id is not None:
            by_id[deal.seat.id] = complete(deal.seat, deal.dsp)
    return by_id | {seat.id: seat for seat in configured if seat.id is not None}


def complete(seat: Seat, dsp: Dsp | None) -> Seat:
    """A seat with the DSP that is said beside it, where it has none of its own."""
    return seat if seat.dsp is not None or dsp is None else seat.model_copy(update={"dsp": dsp})


def dsps(seats: Iterable[Seat]) -> dict[int, Dsp]:
    """The DSPs of seats, by id."""
    return {seat.dsp.id: seat.dsp for seat in seats if seat.dsp is not None and seat.dsp.id is not None}


def _dsp(one: Configured) -> Dsp | None:
    if one.dsp is None and one.dsp_id is None:
        return None
    return Dsp(id=one.dsp_id, name=one.dsp, supports_deal_sync=one.deal_sync)
