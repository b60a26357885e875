"""DSPs and their seats."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, select

from lib.deals.store.demand_deals import seats_shown
from lib.deals.store.noun import Noun
from lib.deals.store.tables import demand_deals, dsps, seats
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems

NAMED_DEALS = 5


class Dsps(Noun):
    """A demand-side platform."""

    def check(self, work: Work, given: Fields, before: Fields | None, problems: Problems) -> None:
        """Check that deal sync is not switched off while deals use it."""
        if before is not None and given.get("supports_deal_sync") is False:
            _check_unused(work, seats.c.dsp_id == before["id"], "supports_deal_sync", problems)


class Seats(Noun):
    """A buyer's seat."""

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its DSP."""
        shown = seats_shown(work, {row.id for row in rows})
        return [shown[row.id] for row in rows]

    def check(self, work: Work, given: Fields, before: Fields | None, problems: Problems) -> None:
        """Check that the DSP exists, and supports deal sync if the seat's deals use it."""
        chosen = given.get("dsp", {}).get("id")
        if chosen is None:
            return
        dsp = work.connection.execute(select(dsps).where(dsps.c.id == chosen)).one_or_none()
        if dsp is None:
            problems.add(("dsp", "id"), f"There is no DSP {chosen}.")
        elif before is not None and not dsp.supports_deal_sync:
            _check_unused(work, seats.c.id == before["id"], "dsp", problems)


def _check_unused(work: Work, at: ColumnElement[bool], field: str, problems: Problems) -> None:
    """Add a problem that names the synchronised deals of these seats, if there are any."""
    question = (
        select(demand_deals.c.id, demand_deals.c.name)
        .join(seats, seats.c.id == demand_deals.c.seat_id)
        .where(at, demand_deals.c.deal_sync)
        .order_by(demand_deals.c.id)
    )
    if names := [f"{row.id} '{row.name}'" for row in work.rows(question.limit(NAMED_DEALS))]:
        problems.add((field,), f"Demand deals are synchronised, and need deal sync: {', '.join(names)}.")
