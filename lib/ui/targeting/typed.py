"""Typed values that are not in the picker: suggestions, or adding them anyway."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from lib.insight.kinds import KINDS, TargetingKind, key_field
from lib.reporting.models import AudienceQuery
from lib.ui.frame.field_problems import beside
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import reported
from lib.ui.question import values
from lib.ui.targeting.near import exact, near
from lib.wire import text

SIDES = {False: "Only", True: "Never"}
BEGINNING, WIDTH = 3, 340
Place = tuple[str, TargetingKind, bool]


@dataclass(frozen=True)
class Check:
    """The pattern of valid input, and the message for other input."""

    shape: re.Pattern[str]
    says: str


CHECKS = {
    "size": Check(
        re.compile(r"[1-9]\d{0,4}x[1-9]\d{0,4}"), "a size is width x height in pixels, like 300x250"
    ),
    "list": Check(re.compile(r"[1-9]\d{0,15}"), "a list is named by its id, a number"),
}


def key(prefix: str, kind: TargetingKind, is_excluded: bool) -> str:
    """The session key of the values chosen on one side of a kind."""
    return f"{prefix}_{kind.name}_{'never' if is_excluded else 'only'}"


def chosen(place: Place) -> list[str]:
    """The values of one side."""
    found: list[str] = st.session_state.get(key(*place), [])
    return found


def take(place: Place, offered: Mapping[str, str]) -> None:
    """Choose known and earlier values; other input is pending. A callback."""
    kind, state = place[1], st.session_state
    was = state.get(_before(place), [])
    kept, odd = list[str](), ""
    for value in state[key(*place)]:
        code = value if value in offered or value in was else exact(value, offered)
        if code is None and kind.is_list and CHECKS["list"].shape.fullmatch(value):
            code = value
        if code is None:
            odd = value.strip().lower() if kind.name == "size" else value.strip()
        elif code not in kept:
            kept.append(code)
    state.update({key(*place): kept, _waiting(place): odd or state.get(_waiting(place), "")})


def settle(here: Here, query: AudienceQuery, place: Place, offered: Mapping[str, str]) -> None:
    """Choose the pending input if it occurs in the report, though it is not among the values listed.

    To be called before the picker is drawn.
    """
    odd, field = st.session_state.get(_waiting(place), ""), key_field(place[1], here.slicer)
    is_fit = bool(odd) and field is not None and not wrong(place[1], odd)
    if is_fit and field is not None and values.known(here, query, field.name, [odd]).get(odd):
        add(place, odd)
    st.session_state[_before(place)] = chosen(place)


def draw(here: Here, query: AudienceQuery, place: Place, offered: Mapping[str, str]) -> None:
    """Draw the pending input: suggestions, and buttons to add it anyway or to drop it."""
    odd, kind = st.session_state.get(_waiting(place), ""), place[1]
    if not odd:
        return
    fault = wrong(kind, odd)
    beside([f"'{odd}': {fault}." if fault else f"The report has no '{odd}'."])
    with st.container(horizontal=True, gap="xsmall", width=WIDTH):
        for code in () if fault else _near(here, query, kind, odd, offered):
            st.button(
                f"{plain(offered.get(code, code))}?", key=f"{key(*place)}_near_{code}", type="secondary",
                on_click=add, args=(place, code),
            )  # fmt: skip
        if not fault:
            st.button(
                f"Add '{plain(odd)}' anyway", key=f"{key(*place)}_anyway", type="tertiary", on_click=add,
                args=(place, odd),
            )  # fmt: skip
        st.button(
            f"Leave out '{plain(odd)}'", key=f"{key(*place)}_drop", type="tertiary", on_click=add,
            args=(place, ""),
        )  # fmt: skip


def add(place: Place, value: str) -> None:
    """Choose this value instead of the pending input; an empty one drops it. A callback."""
    found = list(dict.fromkeys([*chosen(place), *([value] if value else [])]))
    st.session_state.update({key(*place): found, _waiting(place): "", _before(place): found})


def waiting(prefix: str, kind: TargetingKind) -> list[str]:
    """Sentences about pending input for this kind."""
    found = (st.session_state.get(_waiting((prefix, kind, is_excluded)), "") for is_excluded in SIDES)
    return [f"'{odd}' is not added yet." for odd in found if odd]


def unsettled(prefix: str) -> list[str]:
    """The titles of the kinds with pending input."""
    return [kind.title for kind in KINDS if waiting(prefix, kind)]


def wrong(kind: TargetingKind, value: str) -> str:
    """Why this is not a valid value of the kind, as the end of a sentence; empty if it is."""
    check = CHECKS.get("list" if kind.is_list else kind.name)
    if check is not None:
        return "" if check.shape.fullmatch(value.lower()) else check.says
    return f"a value {found}" if (found := text.fault(value)) else ""


def _near(
    here: Here, query: AudienceQuery, kind: TargetingKind, odd: str, offered: Mapping[str, str]
) -> list[str]:
    """Similar codes among the values listed and, if the report has more, those with the same beginning."""
    candidates, field = dict(offered), key_field(kind, here.slicer)
    if field is not None:
        with reported("Other values", kept="What you typed is kept."):
            candidates |= values.offered(here, query, field.name, odd[:BEGINNING]).described
    return near(odd, {code: words for code, words in candidates.items() if code})


def _waiting(place: Place) -> str:
    return f"{key(*place)}_waiting"


def _before(place: Place) -> str:
    return f"{key(*place)}_before"
