"""Computing the health of deals in the background, and keeping it current.

One thread works through batch after batch, as data, deals or the day change. Of all desks over a database one
does it. The others wait, and go on where it ends.
"""

import hashlib
import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from functools import partial

from lib import database
from lib.deals.buyer_counts import BuyerCounts
from lib.deals.health_store import BATCH_SIZE, NO_REPORT, HealthReport, HealthStore, Pair
from lib.deals.supply.states import SupplyIndex
from lib.deals.supply.store import SupplyFiles
from lib.insight import Assessor, Insight
from lib.serving import connect
from lib.settings import Settings
from lib.slicers import dates
from lib.slicers.models import Slicer
from lib.slicers.roles import tells_deals
from lib.wire.errors import TrancheError

__all__ = ["computing"]
log = logging.getLogger(__name__)
DATA_EVERY, NOTED_EVERY = timedelta(minutes=5), timedelta(minutes=1)
RULE = "9"  # counts up when the rule changes: all deals are then computed again


class HealthWatch:
    """Computes what is stale. The first look looks at all deals, later ones where something has changed."""

    def __init__(self, settings: Settings) -> None:
        installation = connect.installation(settings)
        self._engine, self._settings, self._reports = (
            installation.access.store.engine,
            settings,
            connect.Reports(installation),
        )
        self.store = HealthStore(self._engine)
        self._supply_files = SupplyFiles(self._engine, None)
        self._supply = (0, 0), SupplyIndex()
        self._pulse: dict[Pair, object] = {}
        self._slicers: dict[Pair, tuple[str, datetime, Slicer]] = {}
        self._retry_at: dict[Pair, datetime] = {}

    def look(self, now: datetime, is_alone: Callable[[], bool] = lambda: True) -> int:
        """Compute what is stale for each report; returns how many deals were computed."""
        pairs = [NO_REPORT, *self._reports.slicers()]
        if (version := self._supply_files.version()) != self._supply[0]:
            self._supply = version, self._supply_files.index()
        count = 0
        for pair in pairs:
            if timedelta(0) < self._retry_at.get(pair, now) - now <= DATA_EVERY:
                continue
            try:
                assessor = self._assessor(pair, now)
                count += 0 if assessor is None else self._compute(pair, assessor, now, is_alone)
            except TrancheError as error:
                log.warning("The health of deals could not be computed: %s", error.reason)
                self._pulse.pop(pair, None)
                self._retry_at[pair] = now + DATA_EVERY
                self.store.settle(pair, None, error.sentence)
        # Delete what was computed from slicers that are gone, or don't tell deals apart any more.
        others = {pair for pair, (_, _, slicer) in self._slicers.items() if not tells_deals(slicer)}
        self.store.forget([pair for pair in self.store.reports() if pair not in pairs or pair in others])
        self._slicers = {pair: entry for pair, entry in self._slicers.items() if pair in pairs}
        return count

    def _assessor(self, pair: Pair, now: datetime) -> Assessor | None:
        """For a run by the report's data as they are now; None for one that does not tell deals apart."""
        if pair == NO_REPORT:
            return Assessor(None)
        # Looked at again after some minutes, and once the clock was set back.
        entry = self._slicers.get(pair)
        if entry is None or abs(now - entry[1]) >= DATA_EVERY:
            version = self._reports.version(*pair)
            is_same = entry is not None and entry[0] == version
            slicer = entry[2] if entry is not None and is_same else self._reports.info(*pair)
            self._slicers[pair] = version, now, slicer
        else:
            slicer = entry[2]
        if not tells_deals(slicer):
            return None
        ask = partial(self._reports.audience, slicer=slicer)
        today, currency = dates.today(slicer.timezone, now), self._settings.price_currency
        report = Insight(*pair, slicer, today, ask, sees_all_seats=True, currency=currency)
        counts = BuyerCounts(self._engine, "")
        price_type, tolerance = self._settings.price_type, self._settings.dossier_tolerance
        return Assessor(report, price_type, self._supply[1], counts, tolerance)

    def _compute(self, pair: Pair, assessor: Assessor, now: datetime, is_alone: Callable[[], bool]) -> int:
        # What differs once the rule, the data or their days do.
        version = self._slicers[pair][0] if pair != NO_REPORT else ""
        text = "/".join((RULE, version, str(assessor.last_day), str(self._supply[0])))
        basis, last = hashlib.sha256(text.encode()).hexdigest(), assessor.last_day
        pulse = (basis, *self.store.pulse(now))
        report = self.store.reports().get(pair)
        if report is None or (report.basis, report.last_day) != (basis, str(last or "")):
            report = self.store.report(pair, basis, str(last or ""))
        if pulse == self._pulse.get(pair):
            self._note(report, now)
            return 0
        stale = self.store.stale(report, now)
        for first in range(0, len(stale), BATCH_SIZE):
            if not is_alone():
                return first
            began = time.monotonic()
            batch = self.store.batch(stale[first : first + BATCH_SIZE], now)
            self.store.keep(report, assessor.assess(batch.deals, batch.context), batch)
            if len(stale) > BATCH_SIZE:
                time.sleep(time.monotonic() - began)
        self._pulse[pair] = pulse
        self._note(report, now)
        return len(stale)

    def _note(self, report: HealthReport, now: datetime) -> None:
        """Note that all is current, if that was not noted lately."""
        if report.problem or report.checked_at is None or abs(now - report.checked_at) >= NOTED_EVERY:
            self.store.settle(report.pair, now)


def computing(settings: Settings) -> AbstractContextManager[None]:
    """Compute health in the background during the block, unless the deals are those of a remote service."""
    if settings.remote.curate_url:
        return nullcontext()
    return database.background(
        "deal-health",
        "The health of deals could not be computed",
        lambda: connect.installation(settings).access.store.engine,
        lambda: nullcontext(HealthWatch(settings).look),
    )
