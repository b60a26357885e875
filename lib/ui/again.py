"""Trying again: by a click, and by itself after a while, so that a screen recovers without its reader."""

import time

import streamlit as st

from lib.wire.errors import Resting, ServiceProblem, StoreUnavailable, Throttled, TrancheError

SECONDS = 15
PASSING = (ServiceProblem, StoreUnavailable, Throttled)


def offer(error: TrancheError, what: str) -> None:
    """A button, and a clock that does the same, where the failure may be over without a change of question.

    `what` could not be had; it is named once on a screen.
    """
    if isinstance(error, PASSING):
        seconds = error.retry_after + 1 if isinstance(error, Resting | Throttled) else SECONDS
        st.fragment(_wait, run_every=seconds)(what, time.monotonic(), seconds)


def _wait(what: str, since: float, seconds: int) -> None:
    """Drawn with the screen, and drawn alone once the time is over: then the whole screen is asked again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        is_wanted = st.button("Try again", icon=":material/refresh:", key=f"try_again_{what}")
        st.caption(f"By itself in {seconds} seconds", width="content")
    if is_wanted or time.monotonic() - since > seconds - 1:
        st.rerun()
