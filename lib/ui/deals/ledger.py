"""The ledger of forecasts behind the forms: adds what is shown once it is acted on, and scales ranges."""

import logging
from collections.abc import Sequence

import streamlit as st

from lib.deals.forecasts import Kind, NewForecast
from lib.insight import calibration
from lib.insight.calibration import NOTHING_LEARNED, TEACHERS, Learned
from lib.ui.kit.frame import PageContext
from lib.ui.kit.session_cache import SessionCache
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
ON_SCREEN, SCALES, ADDED = "forecasts_on_screen", "forecast_scales", "forecasts_added"
SECONDS, MOST = 60.0, 20
DRIFT = "The latest were off more often than chance allows: expect more misses."


def learned(context: PageContext, kind: Kind) -> Learned:
    """What the ledger teaches of the next forecast of the slicer on screen; nothing without the database."""
    scales = context.cache(SCALES, lambda: SessionCache[Learned](SECONDS, MOST))
    pair = context.project, context.slicer_name

    def fetch() -> Learned:
        return calibration.learn(context.clients.forecasts.learned(TEACHERS[kind]), *pair)

    try:
        return scales.get((context.person.username, kind, *pair), fetch)
    except TrancheError as error:
        log.warning("The ledger of forecasts could not be read: %s", error.reason)
        return NOTHING_LEARNED


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
    if new and st.session_state.get(ADDED) != (new, entity, entity_id):
        try:
            context.clients.forecasts.keep(new, entity, entity_id)
            st.session_state[ADDED] = (new, entity, entity_id)
        except TrancheError as error:
            log.warning("Forecasts could not be added to the ledger: %s", error.reason)


def scale_note(learned: Learned, slicer_name: str) -> str:
    """How ranges were scaled, as a sentence; empty where they were not."""
    if learned.scale is None:
        return ""
    whose = "of all slicers" if learned.is_pooled else f"of {slicer_name}"
    note = f"Ranges are scaled by {learned.scale:.2f}, learned from {learned.count} past forecasts {whose}."
    return f"{note} {DRIFT}" if learned.drifts else note
