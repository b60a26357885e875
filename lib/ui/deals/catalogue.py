"""Seats, DSPs and lists of the deals service, read whole and kept for a moment: what pickers are made of."""

import time
from dataclasses import dataclass, replace
from typing import TypeVar

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import AppList, DomainList, Dsp, Resource, Seat
from lib.reporting.models import AudienceQuery
from lib.ui.deals import report
from lib.ui.kit import retry
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

KEPT, PAGES, HEALTH, SECONDS = "deals_catalogue", "deals_pages", "deals_health", 15.0
QUARTILES = "deals_quartiles"
Found = TypeVar("Found", bound=Resource)


@dataclass(frozen=True)
class CachedList:
    """All of an entity. `trouble` is why it could not be read again; `at` is when that was tried last."""

    at: float
    whose: str
    results: tuple[Resource, ...]
    trouble: TrancheError | None = None

    @property
    def is_old(self) -> bool:
        """Whether to read it again."""
        is_wanted = self.trouble is not None and retry.is_wanted_since(self.at)
        return is_wanted or time.monotonic() - self.at > SECONDS


def client(context: PageContext) -> Deals:
    """The client of the deals API, for as long as the person is signed in."""
    return context.deals


def seats(context: PageContext) -> dict[int, Seat]:
    """All seats by id, by DSP and name."""
    seats = sorted(_kept(context, Seat), key=lambda seat: (_dsp_name(seat), seat.name or ""))
    return {seat.id: seat for seat in seats if seat.id is not None}


def dsps(context: PageContext) -> dict[int, Dsp]:
    """All DSPs by id."""
    return {dsp.id: dsp for dsp in _kept(context, Dsp) if dsp.id is not None}


def lists(context: PageContext) -> tuple[DomainList | AppList, ...]:
    """All domain and app lists."""
    return (*_kept(context, DomainList), *_kept(context, AppList))


def named_lists(context: PageContext) -> dict[str, dict[str, str]]:
    """Their names by kind and id, as the pickers take them."""
    named: dict[str, dict[str, str]] = {"domain_list": {}, "app_list": {}}
    for found in lists(context):
        kind = "domain_list" if isinstance(found, DomainList) else "app_list"
        named[kind][str(found.id)] = found.name or f"list {found.id}"
    return named


def usual_days(context: PageContext) -> AudienceQuery:
    """The days whose values the pickers offer: the last 30 complete ones."""
    return report.question(context, (), 30, ())


def trouble(context: PageContext) -> TrancheError | None:
    """Why something of what is shown is what was read before; None where all of it is fresh."""
    kept: dict[type[Resource], CachedList] = st.session_state.get(KEPT, {})
    return next((s.trouble for s in kept.values() if s.trouble and s.whose == context.person.username), None)


def forget() -> None:
    """Read everything again: something was changed."""
    st.session_state.pop(KEPT, None)
    st.session_state.pop(PAGES, None)
    st.session_state.pop(HEALTH, None)
    st.session_state.pop(QUARTILES, None)


def _kept(context: PageContext, model: type[Found]) -> tuple[Found, ...]:
    """All of this kind; where the service fails meanwhile, those that were read before."""
    kept: dict[type[Resource], CachedList] = st.session_state.setdefault(KEPT, {})
    some = kept.get(model)
    if some is None or some.whose != context.person.username:
        some = kept[model] = _read(client(context), model, context.person.username)
    elif some.is_old:
        some = kept[model] = _anew(context, model, some)
    return some.results  # type: ignore[return-value]


def _anew(context: PageContext, model: type[Found], some: CachedList) -> CachedList:
    """As it is now, or as it was with the trouble; one kind is waited for in vain, not each of them."""
    kept: dict[type[Resource], CachedList] = st.session_state[KEPT]
    lately = next((one.trouble for one in kept.values() if one.trouble and not one.is_old), None)
    if lately is not None:
        return replace(some, at=time.monotonic(), trouble=lately)
    try:
        found = _read(client(context), model, context.person.username)
    except retry.PASSING as error:
        return replace(some, at=time.monotonic(), trouble=error)
    for other, one in kept.items():
        if one.trouble is not None:
            kept[other] = replace(one, at=float("-inf"), trouble=None)
    return found


def _read(client: Deals, model: type[Found], whose: str) -> CachedList:
    return CachedList(time.monotonic(), whose, tuple(client.everything(model, ordering="id")))


def _dsp_name(seat: Seat) -> str:
    return (seat.dsp and seat.dsp.name) or ""
