"""Seats, DSPs and lists of the deals service, read whole and kept for a moment: what pickers are made of."""

from functools import partial
from typing import Any, TypeVar

from lib.deals.client import Deals
from lib.deals.models import AppList, DomainList, Dsp, Resource, Seat
from lib.reporting.models import AudienceQuery
from lib.ui.deals import report
from lib.ui.kit import session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.kit.session_cache import SessionCache
from lib.wire.errors import TrancheError

CATALOGUE, PAGES, HEALTH = "deals_catalogue", "deals_pages", "deals_health"
QUARTILES, SECONDS, MOST = "deals_quartiles", 15.0, 20
Found = TypeVar("Found", bound=Resource)


def client(context: PageContext) -> Deals:
    """The client of the deals API, for as long as the person is signed in."""
    return context.deals


def seats(context: PageContext) -> dict[int, Seat]:
    """All seats by id, by DSP and name."""
    seats = sorted(_all(context, Seat), key=lambda seat: (_dsp_name(seat), seat.name or ""))
    return {seat.id: seat for seat in seats if seat.id is not None}


def dsps(context: PageContext) -> dict[int, Dsp]:
    """All DSPs by id."""
    return {dsp.id: dsp for dsp in _all(context, Dsp) if dsp.id is not None}


def lists(context: PageContext) -> tuple[DomainList | AppList, ...]:
    """All domain and app lists."""
    return (*_all(context, DomainList), *_all(context, AppList))


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
    return _cache().trouble(context.person.username)


def forget() -> None:
    """Read everything again: something was changed."""
    session_cache.clear(CATALOGUE, PAGES, HEALTH, QUARTILES)


def _all(context: PageContext, model: type[Found]) -> tuple[Found, ...]:
    """All of this kind; where the service fails meanwhile, those that were read before."""
    key = (context.person.username, model)
    return _cache().get(key, lambda: tuple(client(context).everything(model, ordering="id")))


def _cache() -> SessionCache[tuple[Any, ...]]:
    make = partial(SessionCache, SECONDS, MOST, serves_stale=True, fails_together=True)
    return session_cache.of(CATALOGUE, make)


def _dsp_name(seat: Seat) -> str:
    return (seat.dsp and seat.dsp.name) or ""
