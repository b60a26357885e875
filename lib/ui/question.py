"""The question that Audience, Export and Slicers share. It lives in the URL; the session keeps a copy.

The copy is for the way from one screen to another, on which Streamlit empties the URL. A link opened
elsewhere, also one that had to pass the sign-in, asks the same; the browser's Back asks the one before.
"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, Slicer
from lib.ui import link
from lib.ui import view as views
from lib.ui.frame import Here
from lib.ui.view import View

KEPT, ABOUT, LEFT_OUT = "question", "question_about", "question_left_out"
SCREEN, SHOWN_ON, MEANINGS = "screen", "question_shown_on", "question_without_parameters"
OF_ONE_SLICER = ("split", "fields", "field", "order", "source")
BOUND = ("project", "slicer")


def current(here: Here) -> AudienceQuery:
    """The question as it stands, about the slicer that the frame's pickers say.

    Where nothing is asked yet, it is the last complete week by the first key field: a screen opens on an
    answer, not on an empty form. On the way to another slicer, days are kept, and those filters that it has.
    The usual question needs no parameters: a URL without any asks it.
    """
    about = (here.project, here.slicer_name)
    asked = _asked()
    reading = link.from_params(asked, here.slicer, *about)
    is_moved = st.session_state.get(ABOUT, about) != about
    if is_moved and reading.left_out:
        asked = {name: text for name, text in asked.items() if name not in OF_ONE_SLICER}
        reading = link.from_params(asked, here.slicer, *about)
    query = reading.query
    if "split" not in asked and (is_moved or not asked):
        query = query.model_copy(update={"split_by": first_split(here.slicer)})
    if is_moved or reading.left_out:
        st.session_state[LEFT_OUT] = reading.left_out
    st.session_state[ABOUT] = about
    if asked:
        _write(_params(query) | views.to_params(views.from_params(asked, here.slicer)))
    else:
        st.session_state[KEPT] = {}
    return query


def view(here: Here) -> View:
    """How the question is looked at."""
    return views.from_params(_in_url(), here.slicer)


def ask(query: AudienceQuery) -> None:
    """Make this the question. From a callback, or followed by `st.rerun`."""
    st.session_state.pop(LEFT_OUT, None)
    _write(_params(query) | {name: text for name, text in _in_url().items() if name in views.PARAMS})


def look(here: Here, **changes: object) -> None:
    """Change how the question is looked at: the fields of View that are named."""
    looked = replace(view(here), **changes)  # type: ignore[arg-type]
    _write(_params(current(here)) | views.to_params(looked))


def left_out() -> list[str]:
    """What of a link could not be asked, a sentence each; until another question is asked."""
    sentences: list[str] = st.session_state.get(LEFT_OUT, [])
    return sentences


def first_split(slicer: Slicer) -> tuple[str, ...]:
    """The split of a question that nobody has asked yet: the first plain key field."""
    plain = [f.name for f in slicer.key_fields if not f.is_segmented and f.name not in TIME_KEY_FIELDS]
    return tuple(plain[:1])


def _params(query: AudienceQuery) -> dict[str, str]:
    """The question's parameters without those that belong to the frame's pickers."""
    return {name: text for name, text in link.to_params(query).items() if name not in BOUND}


def _asked() -> dict[str, str]:
    """The parameters in the URL, or those that a URL without any stands for on this screen.

    On the way from another screen it stands for the question asked there, and goes on to do so when the
    browser's Back leads to it; a screen that was opened without parameters asks the usual question.
    """
    screen, there = st.session_state.get(SCREEN), _in_url()
    meanings: dict[str | None, dict[str, str]] = st.session_state.setdefault(MEANINGS, {})
    if not there and st.session_state.get(SHOWN_ON) != screen:
        meanings[screen] = st.session_state.get(KEPT, {})
    st.session_state[SHOWN_ON] = screen
    return there or meanings.get(screen, {})


def _in_url() -> dict[str, str]:
    """The parameters in the URL that are ours; a removed one stays, without values, until the next run."""
    return {
        name: st.query_params[name]
        for name in st.query_params
        if _is_ours(name) and st.query_params.get_all(name)
    }


def _write(params: Mapping[str, str]) -> None:
    """Put the parameters into the URL in one step, so that they are one entry of the browser's history."""
    st.session_state[KEPT] = dict(params)
    there = _in_url()
    if there != params:
        st.query_params.update({name: params.get(name, ()) for name in {**there, **params}})


def _is_ours(name: str) -> bool:
    return link.is_question(name) or name in views.PARAMS
