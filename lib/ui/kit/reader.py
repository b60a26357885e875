"""What readers chose for themselves: how numbers are written, and the time zone of new questions.

Both are kept by their browser, as the colors are, for all screens; in cookies, since the server needs them.
"""

from collections.abc import Mapping

import streamlit as st

from lib.figures.context import read_zone
from lib.figures.numbers import read_language
from lib.serving.front.overview_route import NUMBERS_COOKIE, ZONE_COOKIE
from lib.slicers import zones

FIND_ZONE = "Type a city, such as Berlin"


def language() -> str:
    """The language whose numbers were chosen; empty where those of the browser are."""
    return read_language(str(st.context.cookies.get(NUMBERS_COOKIE, "")))


def locale() -> str | None:
    """The language in which numbers are written: the one chosen, or else the browser's, such as `de-CH`."""
    return language() or st.context.locale


def own_zone() -> str:
    """The time zone that was chosen, as `Europe/Berlin`; empty where each slicer's own is."""
    return read_zone(str(st.context.cookies.get(ZONE_COOKIE, "")))


def zone_titles() -> Mapping[str, str]:
    """The time zones of places by city, for a field in which one types a city; the reader's come first."""
    cities, own = zones.by_city(), (own_zone(), st.context.timezone or "")
    yours = {name: f"{cities[name]} (yours)" for name in own if name in cities}
    return {**yours, **{name: title for name, title in cities.items() if name not in yours}}
