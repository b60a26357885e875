"""The ledger of forecasts behind the forms: adds what is shown once it is acted on, and scales ranges."""

import logging
from collections.abc import Mapping, Sequence

import streamlit as st

from lib.deals.forecasts import Kind, NewForecast
from lib.insight import calibration
from lib.insight.calibration import NO_SCALE, TEACHERS, RangeScale, ScoredForecast
from lib.ui.kit.frame import PageContext
from lib.ui.kit.session_cache import SessionCache
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
ON_SCREEN, CACHE_KEY, ADDED_KEY = "forecasts_on_screen", "forecasts_scored", "forecasts_added"
SECONDS, MOST = 60.0, 20
DRIFT = "The latest were off more often than chance allows: expect more misses."


def range_scale(context: PageContext, kind: Kind, field: str) -> RangeScale:
    """What the ledger teaches of the next forecast of this field of the slicer on screen.

    Nothing without the database.
    """
    cache = context.cache(CACHE_KEY, lambda: SessionCache[list[ScoredForecast]](SECONDS, MOST))

    def fetch() -> list[ScoredForecast]:
        return calibration.scored_forecasts(context.clients.forecasts.scored_forecasts(TEACHERS[kind]))

    try:
        past = cache.get((context.person.username, kind), fetch)
    except TrancheError as error:
        log.warning("The ledger of forecasts could not be read: %s", error.reason)
        return NO_SCALE
    return calibration.learn(past, context.project, context.slicer_name, field)


def note(place: str, new: Sequence[NewForecast]) -> None:
    """Note what this place on the screen shows now."""
    on_screen: dict[str, Sequence[NewForecast]] = st.session_state.setdefault(ON_SCREEN, {})
    on_screen[place] = new


def clear(places: str) -> None:
    """Forget what was shown at places with this prefix: they are drawn again."""
    on_screen: dict[str, Sequence[NewForecast]] = st.session_state.get(ON_SCREEN, {})
    for place in [place for place in on_screen if place.startswith(places)]:
        del on_screen[place]


def keep(context: PageContext, places: str, entity: str, entity_id: int | None) -> None:
    """Add to the ledger what is shown at places with this prefix, for this package or deal.

    A failure is logged: what was done with the deal is done.
    """
    on_screen: dict[str, Sequence[NewForecast]] = st.session_state.get(ON_SCREEN, {})
    new = tuple(one for place, some in on_screen.items() if place.startswith(places) for one in some)
    if new and st.session_state.get(ADDED_KEY) != (new, entity, entity_id):
        try:
            context.clients.forecasts.keep(new, entity, entity_id)
            st.session_state[ADDED_KEY] = (new, entity, entity_id)
        except TrancheError as error:
            log.warning("Forecasts could not be added to the ledger: %s", error.reason)


def scale_note(of: Mapping[str, RangeScale]) -> str:
    """How the ranges of fields, by their titles, were scaled, as sentences; empty where none was."""
    parts = [f"{title} by {one.scale:.2f}" for title, one in of.items() if one.scale is not None]
    if not parts:
        return ""
    note = f"Ranges are scaled by what past forecasts were off: {', '.join(parts)}."
    return f"{note} {DRIFT}" if any(one.drifts for one in of.values()) else note
