"""Where the health of deals comes from: the desk's store, or a check of the session in the background.

The desk stores the health of its own deals (StoredHealths), for people who see all of them: its reasons are
from every deal and its whole past. For people with some seats, and of a remote service, it is computed in the
background of a session, in the name of the person, for some minutes (SessionHealth).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, partial

from lib.deals.client import Deals
from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.health_store import NO_REPORT, HealthReport, HealthStore, Pair
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.figures.caches import SessionCache
from lib.figures.deals import deal_report
from lib.insight import Assessor
from lib.settings import Settings
from lib.ui.deals import catalog
from lib.ui.deals.insight import report
from lib.ui.deals.list_state import Filters
from lib.ui.kit import session_cache, times
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError
from lib.wire.text import write_day

SECONDS = 300.0
MOMENT_SECONDS = 0.2
MOST = 2_000  # deals of a remote service that are looked at
MOST_RESULTS = 500  # ids in one filter
Healths = Mapping[int, DealHealth]
Check = Future[Healths | TrancheError | None]
Assess = Callable[[Sequence[DemandDeal], DealContext], Healths]
ATTENTION = "attention"
NOTHING_YET = "The health of the deals has not been computed yet."
Selection = tuple[Filters, str]


class SessionHealth:
    """What was found in this session; see StoredHealths for what its methods do."""

    def __init__(self, context: PageContext) -> None:
        """A check of this person's deals is begun, unless there is one; one that failed stands as long."""
        cache: SessionCache[Healths | TrancheError | None]
        cache = session_cache.of(catalog.HEALTH, partial(SessionCache, SECONDS, 1))
        key = (context.person.username, context.person.grants)
        if (check := cache.find(key)) is None:
            check_now: Callable[[], Healths | None]
            try:
                report_context = report.of_deals(context)
                asking = None if report_context is None else deal_report.insight(report_context)
                usual = context.clients.usual_terms.get("price_type", "floor")
                index, buyer_counts = context.clients.supply_files.index(), context.clients.buyer_counts
                assessor = Assessor(asking, usual, index, buyer_counts, Settings.current().dossier_tolerance)
                check_now = partial(check_health, context.deals, catalog.seats(context), assessor.assess)
            except TrancheError as error:
                trouble = error
                check = cache.begin(key, lambda: trouble)[0]
            else:

                def outcome() -> Healths | TrancheError | None:
                    try:
                        return check_now()
                    except TrancheError as error:
                        return error

                check = cache.begin(key, outcome)[0]
        self._coming: Check = check

    def of(self, ids: Collection[int]) -> Healths:
        """The health of these deals, as far as it comes at once."""
        healths = self._fetch(MOMENT_SECONDS) or {}
        return {deal: healths[deal] for deal in ids if deal in healths}

    def report_filter(self) -> Filters:
        """No part of a list's filters: the service does not know health."""
        return ()

    def selection(self) -> Selection:
        """The filter of the list for those that need attention: their ids; or why there is none."""
        healths = self._fetch(None)
        if healths is None:
            return (), self.why_not()
        ids = tuple(
            str(deal) for deal, deal_health in sorted(healths.items()) if deal_health.state == ATTENTION
        )
        if len(ids) > MOST_RESULTS:
            return (), f"{len(ids):,} deals need attention; this service finds {MOST_RESULTS:,} at once."
        return (("id", ids or ("0",)),), ""

    def count(self) -> int:
        """How many deals need attention, as far as that is known."""
        healths = self._fetch(0) if self._coming.done() else None
        return sum(deal_health.state == ATTENTION for deal_health in (healths or {}).values())

    def is_coming(self) -> bool:
        return not self._coming.done()

    def is_changed(self, deals: Collection[int]) -> bool:
        """Never: a change made here has all of it computed anew, and there is none until then."""
        return False

    def note(self) -> str:
        """How far it is, as a sentence."""
        return "Checking the health of the deals." if self.is_coming() else self.why_not()

    def why_not(self) -> str:
        """Why there is no health, as a sentence; empty where there is, or will be."""
        if not self._coming.done():
            return ""
        if isinstance(outcome := self._coming.result(), TrancheError):
            return f"The health of the deals could not be loaded: {outcome.sentence}"
        few = f"Health is shown here for up to {MOST:,} deals."
        return few if outcome is None else ""

    def _fetch(self, seconds: float | None) -> Healths | None:
        try:
            outcome = self._coming.result(seconds)
        except WaitedTooLong:
            return None
        return None if isinstance(outcome, TrancheError) else outcome


BATCH_SIZE = 50


def check_health(client: Deals, seats: Mapping[int, Seat], assess: Assess) -> Healths | None:
    """The health of all deals, as the desk stores it of its own; None where they are more than MOST.

    Of more deals, those that are not paused themselves are checked, if the service can find them.
    """
    running = {}
    if client.list(DemandDeal, limit=1).count > MOST:
        running = {"is_active": True}
        if not client.abilities.finds or client.list(DemandDeal, limit=1, **running).count > MOST:
            return None
    deals = [deal for deal in client.everything(DemandDeal, ordering="id", **running) if deal.id]
    ids = sorted({package.id for deal in deals for package in deal.supply_deals if package.id})
    packages = {
        package.id: package
        for first in range(0, len(ids), BATCH_SIZE)
        for package in client.everything(SupplyPackage, id=ids[first : first + BATCH_SIZE], ordering="id")
        if package.id
    }
    dsps = {seat.dsp.id: seat.dsp for seat in seats.values() if seat.dsp is not None and seat.dsp.id}
    history = client.history if client.abilities.history else None
    return assess(deals, DealContext(packages, seats, dsps, datetime.now(UTC), history))


OLD = timedelta(minutes=20)


@dataclass(frozen=True)
class StoredHealths:
    """What is stored of a report (project, slicer) that the person may see; NO_REPORT if there is none.

    `trouble` is why that can't be said now, as a sentence: nothing is shown then, and no store is needed.
    """

    context: PageContext
    store: HealthStore | None
    pair: Pair
    trouble: str = ""

    def of(self, ids: Collection[int]) -> Mapping[int, DealHealth]:
        """The health of these deals, as far as it is known."""
        return {} if self.trouble or self.store is None else self.store.of(self.pair, ids)

    def selection(self) -> Selection:
        """The filter of the list for those that need attention; or a sentence why it can't be applied."""
        if self.trouble or self._report is None or not self._progress[1]:
            return (), self.why_not() or NOTHING_YET
        return (("health", (ATTENTION,)), *self.report_filter()), ""

    def report_filter(self) -> Filters:
        """The part of a list's filters that says by which report; none is left out by it."""
        return () if self.pair == NO_REPORT else (("report", ("/".join(self.pair),)),)

    def count(self) -> int:
        filters = {name: list(values) for name, values in self.selection()[0]}
        if not filters:
            return 0
        client = self.context.deals
        matches = catalog.fetch_cached(
            self.context, ("attention", self.pair), lambda: client.list(DemandDeal, limit=1, **filters).count
        )
        return int(matches)

    def is_coming(self) -> bool:
        """Whether some deals are still to be computed with the present data."""
        report = self._report
        if self.trouble or report is None:
            return not self.trouble
        return not report.problem and (report.checked_at is None or self._part() < 1)

    def is_changed(self, deals: Collection[int]) -> bool:
        """Whether one of these changed since its health was computed: the background does that in seconds."""
        report = self._report
        if self.store is None or report is None or report.problem:
            return False
        return self.store.is_changed(report, deals)

    def note(self) -> str:
        """How far it is, or how old, as a sentence."""
        report = self._report
        if report is None:
            return self.trouble or NOTHING_YET
        if self.is_coming():
            rest = "" if report.checked_at else " Needs attention is not complete yet."
            return f"Checking the health of the deals: {int(100 * self._part())} % done.{rest}"
        return self.why_not() or self._age(report)

    def why_not(self) -> str:
        """Why it can't be computed, as a sentence; empty if it can."""
        report = self._report
        if self.trouble or report is None or not report.problem:
            return self.trouble
        age = "" if report.checked_at is None else f" {self._age(report)}"
        return f"The health of the deals could not be computed: {report.problem}{age}"

    @cached_property
    def _report(self) -> HealthReport | None:
        return None if self.trouble or self.store is None else self.store.reports().get(self.pair)

    @cached_property
    def _progress(self) -> tuple[int, int, int]:
        return (0, 0, 0) if self.store is None else self.store.counts(self.pair)

    def _part(self) -> float:
        """The part of all deals with health by the present data."""
        current, _, everything = self._progress
        return current / max(1, everything)

    def _age(self, report: HealthReport) -> str:
        """`Health as of 23 Nov 2026, 14:05 · report to 22 Nov 2026`."""
        if report.checked_at is None:
            return ""
        at = report.checked_at.astimezone(times.zone())
        data = f" · report to {write_day(date.fromisoformat(report.last_day))}" if report.last_day else ""
        late = " · not updated since" if datetime.now(UTC) - report.checked_at > OLD else ""
        return f"Health as of {write_day(at.date())}, {at:%H:%M}{data}{late}"


def source(context: PageContext) -> StoredHealths | SessionHealth:
    """The health of the deals that the person may see, by a report that they may see."""
    store = context.clients.healths if context.person.deals.seats is None else None
    if context.is_loading:
        return StoredHealths(context, store, NO_REPORT, "Health follows once the report is loaded.")
    if store is None:
        return SessionHealth(context)
    try:
        slicer = report.of_deals(context)
    except TrancheError as error:
        why = f"The health of the deals could not be loaded: {error.sentence}"
        return StoredHealths(context, store, NO_REPORT, why)
    if slicer is None:
        return StoredHealths(context, store, NO_REPORT)
    if slicer.viewer[1]:  # what is stored is of all rows
        return SessionHealth(context)
    return StoredHealths(context, store, (slicer.project, slicer.slicer_name))


def is_stored(context: PageContext) -> bool:
    """Whether it is stored for this person, so that lists are filtered and ordered by it."""
    return isinstance(source(context), StoredHealths)
