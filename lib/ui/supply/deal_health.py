"""The health of deals on screen, as the desk has computed and stored it from a report the person may see."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

import streamlit as st

from lib.deals.healths import NO_REPORT, HealthReport, HealthStore, Pair
from lib.deals.models import DemandDeal
from lib.insight import assessor
from lib.insight.health import DealHealth
from lib.ui.frame import clock
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.supply import catalogue, pages, report
from lib.ui.supply.rows import DealRow
from lib.ui.supply.session_health import SessionHealth
from lib.wire.errors import TrancheError

DAYS, DEALS, ATTENTION = assessor.DAYS, "demand_deals", "attention"
POLL_SECONDS, OLD = 2.0, timedelta(minutes=20)
COUNT, DRAWN = "deals_attention_count", "deals_health_drawn"
TONES = {ATTENTION: "orange", "unknown": "gray", "healthy": "green", "idle": ""}
NOTHING_YET = "The health of the deals has not been computed yet."
Selection = tuple[tuple[tuple[str, tuple[str, ...]], ...], str]


@dataclass(frozen=True)
class StoredHealths:
    """What is stored of a report (project, slicer) that the person may see; NO_REPORT if there is none.

    `trouble` is why that can't be said now, as a sentence: nothing is shown then.
    """

    here: Here
    store: HealthStore
    pair: Pair
    trouble: str = ""

    def of(self, ids: Collection[int]) -> Mapping[int, DealHealth]:
        """The health of these deals, as far as it is known."""
        found = {} if self.trouble else self.store.of(self.pair, ids)
        return {deal: DealHealth.stored(one.state, one.facts) for deal, one in found.items()}

    def selection(self) -> Selection:
        """The filter of the list for those that need attention; or a sentence why it can't be applied."""
        if self.trouble or self._report is None or not self._progress[1]:
            return (), self.why_not() or NOTHING_YET
        return (("health", (ATTENTION,)), *self.reported()), ""

    def reported(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The part of a list's filters that says by which report; none is left out by it."""
        return () if self.pair == NO_REPORT else (("report", ("/".join(self.pair),)),)

    def count(self) -> int:
        """How many deals need attention."""
        wanted = {name: list(values) for name, values in self.selection()[0]}
        if not wanted:
            return 0
        client = catalogue.client(self.here)
        asked = pages.cached(
            self.here, ("attention", self.pair), lambda: client.list(DemandDeal, limit=1, **wanted).count
        )
        return int(asked)

    def is_coming(self) -> bool:
        """Whether some deals are still to be computed with the present data."""
        found = self._report
        if self.trouble or found is None:
            return not self.trouble
        return not found.problem and (found.checked_at is None or self._part() < 1)

    def note(self) -> str:
        """How far it is, or how old, as a sentence."""
        found = self._report
        if found is None:
            return self.trouble or NOTHING_YET
        if self.is_coming():
            rest = "" if found.checked_at else " Needs attention has none that are not checked yet."
            return f"Checking the health of the deals: {int(100 * self._part())} % done.{rest}"
        return self.why_not() or self._age(found)

    def why_not(self) -> str:
        """Why it can't be computed, as a sentence; empty if it can."""
        found = self._report
        if self.trouble or found is None or not found.problem:
            return self.trouble
        age = "" if found.checked_at is None else f" {self._age(found)}"
        return f"The health of the deals could not be computed: {found.problem}{age}"

    @cached_property
    def _report(self) -> HealthReport | None:
        return None if self.trouble else self.store.reports().get(self.pair)

    @cached_property
    def _progress(self) -> tuple[int, int, int]:
        return self.store.counts(self.pair)

    def _part(self) -> float:
        """The part of all deals with health by the present data."""
        current, _, everything = self._progress
        return current / max(1, everything)

    def _age(self, found: HealthReport) -> str:
        """`Health as of 23 Nov 2026, 14:05 · report to 22 Nov 2026`."""
        if found.checked_at is None:
            return ""
        at = found.checked_at.astimezone(clock.zone())
        data = f" · report to {_day(date.fromisoformat(found.last_day))}" if found.last_day else ""
        late = " · not updated since" if datetime.now(UTC) - found.checked_at > OLD else ""
        return f"Health as of {_day(at.date())}, {at:%H:%M}{data}{late}"


def of(here: Here) -> StoredHealths | SessionHealth:
    """The health of the deals that the person may see, by a report that they may see."""
    store = here.clients.healths
    if store is None:
        return SessionHealth(here)
    try:
        found = report.of_deals(here)
    except TrancheError as error:
        why = f"The health of the deals could not be loaded: {error.reason.rstrip('.')}."
        return StoredHealths(here, store, NO_REPORT, why)
    return StoredHealths(here, store, NO_REPORT if found is None else (found.project, found.slicer_name))


def marked(here: Here, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows of deals with their health."""
    healths = of(here).of([row.id for row in rows])
    return [
        replace(row, health=(one.brief or one.words, TONES[one.state]))
        if (one := healths.get(row.id))
        else row
        for row in rows
    ]


def look_again(here: Here) -> None:
    """Draw the screen again once all of it is there; meanwhile say how far it is."""
    st.fragment(_look, run_every=POLL_SECONDS)(here)


def _look(here: Here) -> None:
    healths = of(here)
    if not healths.is_coming():
        st.session_state.pop(catalogue.PAGES, None)
        st.rerun()
    st.caption(f":material/hourglass_top: {plain(healths.note())}")


def drawn_number() -> int:
    """How many deals need attention as last seen on the screen, for the navigation, which remembers it."""
    number = st.session_state[DRAWN] = st.session_state.get(COUNT, 0)
    return int(number)


def note_number(here: Here) -> bool:
    """Note how many deals need attention; whether the navigation shows another number."""
    st.session_state[COUNT] = of(here).count()
    return bool(st.session_state[COUNT] != st.session_state.get(DRAWN, 0))


def _day(day: date) -> str:
    return f"{day.day} {day:%b %Y}"
