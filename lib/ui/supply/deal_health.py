"""The health of all deals that are not paused, computed in the background and kept for some minutes."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.insight import health, win_prices
from lib.insight.filters import entries, report_filters
from lib.insight.health import DealHealth, Funnels, Surroundings
from lib.insight.win_prices import WinPrices
from lib.ui.frame.frame import Here
from lib.ui.supply import catalogue, prices, report
from lib.ui.supply.rows import DealRow, Key
from lib.ui.targeting import words
from lib.wire.errors import TrancheError

SECONDS, MOMENT_SECONDS, POLL_SECONDS, DAYS, MOST, TOGETHER = 300.0, 0.2, 1.0, 7, 2_000, 50
DRAWN = "deals_health_drawn"
TONES = {"attention": "orange", "unknown": "gray", "healthy": "green", "idle": ""}
PRICED = 20
Healths = Mapping[int, DealHealth]
WonIn = Callable[[SupplyPackage], WinPrices | None]


@dataclass(frozen=True)
class HealthAsked:
    """Whose deals are being checked, since when, and what comes of it; None where there are too many."""

    whose: str
    at: float
    coming: Future[Healths | None]


def found(here: Here, seconds: float | None = MOMENT_SECONDS) -> Healths | None:
    """The health of deals by id, if it comes within so many seconds; None where it does not, or can't."""
    try:
        return _asked(here).coming.result(seconds)
    except (WaitedTooLong, TrancheError):
        return None


def why_not(here: Here) -> str:
    """Why there is no health, in a sentence; empty where there is, or will be."""
    coming = _asked(here).coming
    if not coming.done():
        return ""
    if isinstance(error := coming.exception(), TrancheError):
        return f"The health of the deals could not be loaded: {error.reason.rstrip('.')}."
    return f"Health is shown for up to {MOST:,} deals that are not paused." if coming.result() is None else ""


def is_coming(here: Here) -> bool:
    """Whether it is still being computed."""
    return not _asked(here).coming.done()


def look_again(here: Here) -> None:
    """Draw the screen again once it is there."""
    if is_coming(here):
        st.fragment(_look, run_every=POLL_SECONDS)(_asked(here).coming)


def attention(healths: Healths) -> tuple[int, ...]:
    """The ids of the deals that need attention."""
    return tuple(sorted(deal for deal, one in healths.items() if one.state == "attention"))


def number() -> int:
    """How many deals need attention, as far as that was computed in this session."""
    asked: HealthAsked | None = st.session_state.get(catalogue.HEALTH)
    if asked is None or not asked.coming.done() or asked.coming.exception() is not None:
        return 0
    return len(attention(asked.coming.result() or {}))


def drawn_number() -> int:
    """The same, for the navigation, which remembers what it shows."""
    shown = st.session_state[DRAWN] = number()
    return shown


def is_drawn() -> bool:
    """Whether the navigation shows the number as it is now."""
    return bool(number() == st.session_state.get(DRAWN, 0))


def marked(rows: Sequence[DealRow], healths: Healths) -> list[DealRow]:
    """The rows of deals with their health."""
    return [
        replace(row, health=(one.brief or one.words, TONES[one.state]))
        if (one := of(row.key, healths))
        else row
        for row in rows
    ]


def of(key: Key, healths: Healths | None) -> DealHealth | None:
    """The health of one of the list; None where it is no deal, or paused."""
    return None if healths is None or key[0] != "demand_deals" else healths.get(key[1])


def _asked(here: Here) -> HealthAsked:
    known: HealthAsked | None = st.session_state.get(catalogue.HEALTH)
    whose = here.person.username
    if known is None or known.whose != whose or time.monotonic() - known.at > SECONDS:
        known = HealthAsked(whose, time.monotonic(), Future())
        st.session_state[catalogue.HEALTH] = known
        try:
            reads = catalogue.client(here), catalogue.seats(here), _funnels(here), _won_in(here)
            check = partial(checked, *reads)
        except TrancheError as error:
            known.coming.set_exception(error)
        else:
            threading.Thread(target=_settle, args=(known.coming, check), name="health", daemon=True).start()
    return known


def _funnels(here: Here) -> Callable[[], Funnels | None]:
    """The function that requests the funnels; it returns None if no slicer has deals or a step."""
    seen = report.of_deals(here)
    fields = {} if seen is None else health.step_fields(seen.slicer)
    if seen is None or not fields:
        return lambda: None
    query = report.question(seen, (), DAYS, tuple(fields.values()))
    query = query.model_copy(update={"split_by": (health.DEAL,)})
    last = report.period(seen, query)[1]
    ask = partial(seen.reporting.audience, query, seen.slicer)
    return lambda: health.funnels(ask(), fields, last)


def _won_in(here: Here) -> WonIn:
    """What asks for what wins in the targeting of a package, deal by deal and day by day.

    It gives None where nothing was won, filters can't say the targeting, or prices have another unit.
    """
    seen = report.of_deals(here)
    fields = None if seen is None else win_prices.win_fields(seen.slicer)
    if seen is None or fields is None or prices.of(here).unit.upper() != prices.BY_CPM:
        return lambda package: None
    lists = entries(catalogue.lists(here))
    usual = report.question(seen, (), DAYS, ()).model_copy(update={"split_by": (health.DEAL,)})
    query, reporting = win_prices.win_question(usual, seen.slicer, fields), seen.reporting

    def won(package: SupplyPackage) -> WinPrices | None:
        said = report_filters(package, seen.slicer, lists, package.media_type)
        if said.left_out or words.unread(package):
            return None
        asked = query.model_copy(update={"filters": said.filters})
        return win_prices.win_prices(reporting.audience(asked, seen.slicer), fields)

    return won


def checked(
    client: Deals, seats: Mapping[int, Seat], funnels: Callable[[], Funnels | None], won_in: WonIn
) -> Healths | None:
    """The health of all deals that are not paused themselves; None where they are more than MOST.

    What wins is asked for the first PRICED packages of deals with bids that win nothing. A service that can't
    search may not return `is_active` either: of its deals all are checked.
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
    around = Surroundings(packages, seats, dsps, datetime.now(UTC))
    seen = funnels()
    found = {deal.id or 0: health.health(deal, around, seen) for deal in deals}
    unsold = [deal for deal in deals if health.is_unsold(found[deal.id or 0])]
    asked = list(dict.fromkeys(one.id for deal in unsold for one in deal.supply_deals if one.id in packages))
    there = {one: won_in(packages[one]) for one in asked[:PRICED] if one is not None}
    won = {one: of for one, of in there.items() if of is not None}
    return found | {deal.id or 0: health.health(deal, around, seen, won) for deal in unsold}


def _settle(coming: Future[Healths | None], check: Callable[[], Healths | None]) -> None:
    try:
        coming.set_result(check())
    except BaseException as error:
        coming.set_exception(error)


def _look(coming: Future[Healths | None]) -> None:
    if coming.done():
        st.rerun()
