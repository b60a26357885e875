"""The health of deals on screen: a column, the number and filter of those that need attention, a funnel.

The desk stores the health of its own deals (StoredHealths), for people who see all of them: its reasons are
from every deal and its whole past. For people with some seats, and of a remote service, it is computed in the
background of a session, in the name of the person, for some minutes (SessionHealth).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, partial

import pandas as pd
import streamlit as st

from lib.deals.client import Deals
from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.delivery import PERIODS, pacing
from lib.deals.fields import DEALS
from lib.deals.healths import NO_REPORT, HealthReport, HealthStore, Pair
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.figures.caches import SessionCache
from lib.figures.deals import deal_report
from lib.figures.numbers import Numbers
from lib.insight import Assessor
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals import catalog, counts
from lib.ui.deals.deal_rows import BY_NAME, DealRow, delivery_texts
from lib.ui.deals.insight import report
from lib.ui.deals.list_state import Filters
from lib.ui.kit import redraw, session_cache, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.tables import with_figures
from lib.wire.errors import TrancheError
from lib.wire.text import write_day

SECONDS = 300.0
MOMENT_SECONDS = 0.2
MOST = 2_000  # deals of a remote service that are looked at
MOST_RESULTS = 500  # ids in one filter
Healths = Mapping[int, DealHealth]
Check = Future[Healths | TrancheError | None]
Assess = Callable[[Sequence[DemandDeal], DealContext], Healths]
DAYS, ATTENTION = PERIODS[0], "attention"
OLD = timedelta(minutes=20)
COUNT = "deals_attention_count"
TONES = {ATTENTION: "orange", "unknown": "gray", "healthy": "green", "idle": ""}
NOTHING_YET = "The health of the deals has not been computed yet."
Selection = tuple[Filters, str]


class SessionHealth:
    """What was found in this session; see StoredHealths for what its methods do."""

    def __init__(self, context: PageContext) -> None:
        self._coming = _check(context)

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


def _check(context: PageContext) -> Check:
    """The check of this person's deals; one that failed stands as long as one that did not."""
    cache: SessionCache[Healths | TrancheError | None]
    cache = session_cache.of(catalog.HEALTH, partial(SessionCache, SECONDS, 1))
    key = (context.person.username, context.person.grants)
    if (check := cache.find(key)) is not None:
        return check
    try:
        report_context = report.of_deals(context)
        asking = None if report_context is None else deal_report.insight(report_context)
        usual = context.clients.usual_terms.get("price_type", "floor")
        index, buyer_counts = context.clients.supply_files.index(), context.clients.buyer_counts
        assessor = Assessor(asking, usual, index, buyer_counts, Settings.current().dossier_tolerance)
        check_now = partial(check_health, context.deals, catalog.seats(context), assessor.assess)
    except TrancheError as error:
        trouble = error
        return cache.begin(key, lambda: trouble)[0]

    def outcome() -> Healths | TrancheError | None:
        try:
            return check_now()
        except TrancheError as error:
            return error

    return cache.begin(key, outcome)[0]


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


def add_health(context: PageContext, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows with their health and delivery, as far as these are known by now; packages have none."""
    if not rows or rows[0].entity != DEALS:
        return [*rows]
    healths, numbers = source(context).of([row.id for row in rows]), Numbers.of(context.locale)
    return [
        replace(
            row,
            health=(deal_health.words, TONES[deal_health.state]),
            delivery=delivery_texts(deal_health.delivery, deal_health.is_estimate, numbers),
            pacing=pacing(deal_health.delivery),
        )
        if (deal_health := healths.get(row.id))
        else row
        for row in rows
    ]


COUNTED = "deals_attention_counted"
COUNT_SECONDS = 30.0


def number(person: Person) -> int:
    """How many deals need attention by the chosen slicer, for the navigation: counted every half
    minute; of what is not stored for this person, as the list counted it last."""
    state, now = st.session_state, datetime.now(UTC).timestamp()
    choice = state.get("project"), state.get("slicer")
    if now - state.get(COUNTED, (0.0, None))[0] > COUNT_SECONDS or state[COUNTED][1] != choice:
        clients = connect.connect(person, Settings.current())
        if clients.healths is not None and person.deals.reads and person.deals.seats is None:
            with suppress(TrancheError):
                reports = clients.healths.reports()
                pairs = sorted(clients.slicers, key=lambda pair: (pair != choice, pair[0] != choice[0]))
                pair = next((pair for pair in pairs if pair in reports), NO_REPORT)
                if not person.row_filters(*pair):
                    by = {"health": [ATTENTION]} | ({"report": ["/".join(pair)]} if any(pair) else {})
                    state[COUNT] = clients.deals.list(DemandDeal, limit=1, **by).count
        state[COUNTED] = now, choice
    return int(state.get(COUNT, 0))


def note_number(context: PageContext) -> bool:
    """Note how many deals need attention; whether the navigation shows another number."""
    before, st.session_state[COUNT] = st.session_state.get(COUNT, 0), source(context).count()
    return bool(st.session_state[COUNT] != before)


def filters(context: PageContext, is_on: bool, order: str) -> tuple[Filters, str]:
    """The part of the list's filters that is about health, or why it can't be applied."""
    if not is_on and BY_NAME[order].orders.get(DEALS) != "report":
        return (), ""
    healths = source(context)
    if not is_on:
        return healths.report_filter(), ""
    with st.spinner("Checking the deals", show_time=True):
        return healths.selection()


def follow(context: PageContext, entity: str, ids: Collection[int] = ()) -> None:
    """How old the health is, or how far; drawn again when it arrives, also that of the listed deals `ids`."""
    if entity != DEALS:
        return
    healths = source(context)
    if healths.is_coming():
        _reload_once(
            lambda: not source(context).is_coming(), "health_is_there", lambda: source(context).note()
        )
    elif note_number(context):
        st.rerun()
    elif healths.is_changed(ids):
        wait = "The last changes are not counted in yet: being computed."
        _reload_once(lambda: not source(context).is_changed(ids), "health_is_current", lambda: wait)
    elif note := healths.note():
        st.caption(f":material/info: {plain(note)}" if healths.why_not() else plain(note))


def _reload_once(is_there: Callable[[], bool], key: str, wait: Callable[[], str]) -> None:
    """Read the list again, which health filters and orders, once something is there; say so until then."""

    def may_reload() -> bool:
        if is_due := is_there():
            session_cache.clear(catalog.PAGES)
        return is_due

    redraw.when(may_reload, key, lambda: st.caption(f":material/hourglass_top: {plain(wait())}"))


def draw_reasons(context: PageContext, key: tuple[str, int]) -> DealHealth | None:
    """Draw a deal's health in words: what is wrong with it, and what to do; its health, if it is known."""
    if key[0] != DEALS:
        return None
    healths = source(context)
    deal_health = healths.of([key[1]]).get(key[1])
    if deal_health is None:
        if healths.is_coming():
            st.caption(f":material/hourglass_top: {plain(healths.note())}")
            redraw.draw_again("health_of_deal")
        return None
    if healths.is_changed([key[1]]):
        st.caption(":material/hourglass_top: Its last change is not counted in yet: being computed.")
        redraw.draw_again("health_of_deal")
    repair = deal_health.repair_sentence(datetime.now(times.zone()))
    st.markdown(f"Health: **{plain(repair or deal_health.words)}**")
    if deal_health.findings:
        st.markdown("\n".join(f"- {plain(finding)}" for finding in deal_health.findings))
    if deal_health.advice:
        st.info(plain(deal_health.advice), icon=":material/lightbulb:")
    return deal_health


def draw_funnel(context: PageContext, key: tuple[str, int]) -> None:
    """Draw a deal's health, and its funnel with the share of each step in the one before."""
    deal_health, numbers = draw_reasons(context, key), counts.numbers()
    if deal_health is not None and deal_health.steps:
        steps = deal_health.rates
        columns = {
            f"Last {DAYS} days": [numbers.number(value) for _, value, _ in steps],
            "Of the step before": [numbers.percent(share) for _, _, share in steps],
        }
        index = [name.capitalize() for name, _, _ in steps]
        st.table(
            with_figures(pd.DataFrame(columns, index=pd.Index(index, name="Step")), columns),
            border="horizontal", alt="Funnel of this deal",
        )  # fmt: skip
