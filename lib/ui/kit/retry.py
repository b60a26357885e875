"""Retries by a click, and automatically after a while, so that a screen recovers on its own."""

import time
from dataclasses import dataclass
from itertools import count

import streamlit as st

from lib.ui.kit import redraw
from lib.wire.errors import CircuitOpen, Throttled, TrancheError, is_passing

SECONDS, LONGEST_SECONDS, LONGEST_RETRY = 15, 120, 300
PAUSES, RETRY_TIME, BUTTONS = "pauses_before_trying_again", "wanted_again", "offers_to_try_again"


@dataclass(frozen=True)
class Pause:
    """The seconds to wait before the next attempt, and the time from which they count."""

    seconds: int
    since: float


def offer(error: TrancheError, what: str) -> None:
    """Draw a retry button, and start a timer that does the same, if the same request may succeed later.

    `what` could not be loaded. Each time in a row that the clock runs out the next pause is twice as long.
    Several things of one name may fail on one screen, side by side: each has a button of its own.
    """
    if not is_passing(error):
        return
    now, last = time.monotonic(), _pauses().get(what)
    if isinstance(error, CircuitOpen | Throttled):
        pause = Pause(min(error.retry_after, LONGEST_RETRY) + 1, now)
    else:
        seconds = SECONDS
        if last is not None:
            has_run_out = now - last.since >= last.seconds - 1
            seconds = min(2 * last.seconds, LONGEST_SECONDS) if has_run_out else last.seconds
        pause = _pauses()[what] = Pause(seconds, now)
    buttons: dict[str, count[int]] = st.session_state.setdefault(BUTTONS, {})
    key = f"try_again_{what}_{next(buttons.setdefault(what, count()))}"
    st.fragment(_wait, run_every=pause.seconds)(pause, key)


def begin() -> None:
    """Start a run of the screen: no failure has been shown yet."""
    st.session_state[BUTTONS] = {}


def note_success(what: str) -> None:
    """Note a success: the next failure starts again with the shortest pause."""
    _pauses().pop(what, None)


def is_wanted_since(failed_at: float) -> bool:
    """Whether a retry, by a click or by the timer, was requested since that failure."""
    wanted_at: float = st.session_state.get(RETRY_TIME, float("-inf"))
    return failed_at < wanted_at


def _wait(pause: Pause, key: str) -> None:
    """Draw the button and the seconds; rerun the whole screen on a click, or once the time is over."""
    with st.container(horizontal=True, vertical_alignment="center"):
        is_wanted = st.button("Try again", icon=":material/refresh:", key=key)
        st.caption(f"Retrying in {pause.seconds} seconds", width="content")
    is_over = time.monotonic() - pause.since > pause.seconds - 1
    if redraw.is_quiet(f"{key}_due", is_over) or is_wanted:
        st.session_state[RETRY_TIME] = time.monotonic()
        st.rerun()


def _pauses() -> dict[str, Pause]:
    pauses: dict[str, Pause] = st.session_state.setdefault(PAUSES, {})
    return pauses
