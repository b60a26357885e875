"""The health of deals of a remote service, computed in the background of a session, for some minutes.

The desk stores the health of its own deals alone (deal_health.py).
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.insight.assessor import Assessor
from lib.insight.filters import entries
from lib.insight.health import DealHealth, Surroundings
from lib.ui.frame.frame import Here
from lib.ui.supply import catalogue, prices, report
from lib.wire.errors import TrancheError

SECONDS, MOMENT_SECONDS, MOST, TOGETHER, MOST_FOUND = 300.0, 0.2, 2_000, 50, 500
Healths = Mapping[int, DealHealth]
Assess = Callable[[Sequence[DemandDeal], Surroundings], Healths]


@dataclass(frozen=True)
class HealthCheck:
    """Whose deals are being checked, since when, and what comes of it; None where there are too many."""

    whose: str
    at: float
    coming: Future[Healths | None]


class SessionHealth:
    """What was found in this session; see `deal_health.StoredHealths` for what its methods do."""

    def __init__(self, here: Here) -> None:
        self._check = _check(here)

    def of(self, ids: Collection[int]) -> Healths:
        """The health of these deals, as far as it comes at once."""
        found = self._found(MOMENT_SECONDS) or {}
        return {one: found[one] for one in ids if one in found}

    def reported(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """No part of a list's filters: the service does not know health."""
        return ()

    def selection(self) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], str]:
        """The filter of the list for those that need attention: their ids; or why there is none."""
        found = self._found(None)
        if found is None:
            return (), self.why_not()
        ids = tuple(str(deal) for deal, one in sorted(found.items()) if one.state == "attention")
        if len(ids) > MOST_FOUND:
            return (), f"{len(ids):,} deals need attention; this service finds {MOST_FOUND:,} at once."
        return (("id", ids or ("0",)),), ""

    def count(self) -> int:
        """How many deals need attention, as far as that is known."""
        found = self._found(0) if self._check.coming.done() else None
        return sum(one.state == "attention" for one in (found or {}).values())

    def is_coming(self) -> bool:
        """Whether it is still being computed."""
        return not self._check.coming.done()

    def note(self) -> str:
        """How far it is, as a sentence."""
        return "Checking the health of the deals." if self.is_coming() else self.why_not()

    def why_not(self) -> str:
        """Why there is no health, as a sentence; empty where there is, or will be."""
        coming = self._check.coming
        if not coming.done():
            return ""
        if isinstance(error := coming.exception(), TrancheError):
            return f"The health of the deals could not be loaded: {error.reason.rstrip('.')}."
        few = f"Of a remote service, health is shown for up to {MOST:,} deals that are not paused."
        return few if coming.result() is None else ""

    def _found(self, seconds: float | None) -> Healths | None:
        try:
            return self._check.coming.result(seconds)
        except (WaitedTooLong, TrancheError):
            return None


def _check(here: Here) -> HealthCheck:
    known: HealthCheck | None = st.session_state.get(catalogue.HEALTH)
    whose = here.person.username
    if known is None or known.whose != whose or time.monotonic() - known.at > SECONDS:
        known = HealthCheck(whose, time.monotonic(), Future())
        st.session_state[catalogue.HEALTH] = known
        try:
            check = partial(checked, catalogue.client(here), catalogue.seats(here), _assessor(here).assess)
        except TrancheError as error:
            known.coming.set_exception(error)
        else:
            threading.Thread(target=_settle, args=(known.coming, check), name="health", daemon=True).start()
    return known


def _assessor(here: Here) -> Assessor:
    """By the report that the person may see, in their name."""
    found, lists = report.of_deals(here), entries(catalogue.lists(here))
    asking = None if found is None else report.deal_report(found, found.reporting)
    return Assessor(asking, lambda: lists, prices.of(here).unit.upper() == prices.BY_CPM)


def checked(client: Deals, seats: Mapping[int, Seat], assess: Assess) -> Healths | None:
    """The health of all deals that are not paused themselves; None where they are more than MOST.

    A service that can't search may not return `is_active` either: of its deals all are checked.
    """
    running = {"is_active": True} if client.abilities.finds else {}
    if client.list(DemandDeal, limit=1, **running).count > MOST:
        return None
    deals = [one for one in client.everything(DemandDeal, ordering="id", **running) if one.id]
    ids = sorted({one.id for deal in deals for one in deal.supply_deals if one.id})
    packages = {
        one.id: one
        for first in range(0, len(ids), TOGETHER)
        for one in client.everything(SupplyPackage, id=ids[first : first + TOGETHER], ordering="id")
        if one.id
    }
    dsps = {seat.dsp.id: seat.dsp for seat in seats.values() if seat.dsp is not None and seat.dsp.id}
    return assess(deals, Surroundings(packages, seats, dsps, datetime.now(UTC)))


def _settle(coming: Future[Healths | None], check: Callable[[], Healths | None]) -> None:
    try:
        coming.set_result(check())
    except BaseException as error:
        coming.set_exception(error)
