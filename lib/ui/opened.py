"""What a slicer is, as its service told it: asked once in a while, not with every click."""

import time
from dataclasses import dataclass, replace

import streamlit as st

from lib.connect import Clients
from lib.reporting.models import InfoQuery, Slicer
from lib.wire.errors import TrancheError

KNOWN = "known_slicers"
NOTHING = Slicer()
PAUSE_SECONDS = 10.0


@dataclass(frozen=True)
class Known:
    """The last description, when it was told, and why it could not be told anew, if so."""

    slicer: Slicer = NOTHING
    told_at: float = float("-inf")
    trouble: TrancheError | None = None
    failed_at: float = float("-inf")


def opened(clients: Clients, username: str, project: str, name: str) -> Known:
    """The slicer as it was told lately; where it can't be had, as it was told before, with the trouble.

    After a failure the service is left alone for some seconds: everybody would wait for it at every click.
    """
    kept: dict[tuple[str, str, str], Known] = st.session_state.setdefault(KNOWN, {})
    known, now = kept.get((username, project, name), Known()), time.monotonic()
    if now - known.told_at < clients.slicer_seconds or now - known.failed_at < PAUSE_SECONDS:
        return known
    with st.spinner("Asking the reporting service", show_time=True):
        known = kept[username, project, name] = _asked(clients, known, project, name)
    return known


def forget() -> None:
    """Ask again now."""
    st.session_state.pop(KNOWN, None)


def _asked(clients: Clients, known: Known, project: str, name: str) -> Known:
    try:
        slicer = clients.reporting.info(InfoQuery(project_name=project, slicer_name=name))
    except TrancheError as error:
        return replace(known, trouble=error, failed_at=time.monotonic())
    return Known(slicer, time.monotonic())
