"""Seats, each at a DSP."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from lib.deals.store.demand_deals import seats_shown
from lib.deals.store.noun import Noun
from lib.deals.store.tables import dsps
from lib.deals.store.work import Fields, Work
from lib.deals.validation import Problems


class Seats(Noun):
    """A buyer's seat."""

    def bodies(self, work: Work, rows: Sequence[Row[Any]]) -> list[Fields]:
        """Each with its DSP."""
        shown = seats_shown(work, {row.id for row in rows})
        return [shown[row.id] for row in rows]

    def check(self, work: Work, given: Fields, before: Fields | None, problems: Problems) -> None:
        """The DSP is there."""
        dsp = given.get("dsp", {}).get("id")
        if dsp is not None and not work.named(dsps, [dsp]):
            problems.add(("dsp", "id"), f"There is no DSP {dsp}.")
