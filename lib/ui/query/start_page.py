"""What a person's desk opens on: the saved view that is their start page, or the slicer used last."""

import logging
from urllib.parse import unquote

import streamlit as st

from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
LAST = "last_slicer"


def opening(person: Person) -> tuple[str, dict[str, str]]:
    """The screen of the person's start page and its URL parameters; these are empty without one.

    They are also empty where the database fails: the desk opens on its usual screen, and the log says why.
    """
    try:
        start = connect.connect(person, Settings.current()).view_store.start
        view, board = start.get(), start.board()
    except TrancheError as error:
        log.warning("The start page could not be read: %s", error.reason)
        return "", {}
    if board is not None:
        return "boards", {"board": str(board.id)}
    if view is None:
        return "", {}
    return "audience", {"project": view.project, "slicer": view.slicer, **view.params}


def last_slicer(person: Person) -> dict[str, str]:
    """The same of the slicer that this browser showed last (overview.js); empty if they can't see it."""
    project, _, slicer = unquote(str(st.context.cookies.get(LAST, ""))).partition("~")
    slicers = connect.connect(person, Settings.current()).slicers
    return {"project": project, "slicer": slicer} if (project, slicer) in slicers else {}
