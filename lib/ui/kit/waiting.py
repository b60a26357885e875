"""While a database works on an answer: from the first second on words and Cancel, as on the overview.

A block draws from the answers that it gets within `speaking`. One that is not there within a second ends the
block with NotReady, in whose place `draw` says what is computed by which database, for how long so far, and
how long that took lately; once the answer is there, the screen is run again. Cancel abandons the calls of
the block, and with them their statements.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, nullcontext
from statistics import median

import streamlit as st

from lib.figures.waits import NotReady, Wait, _current
from lib.reporting.models import AudienceQuery, ExportQuery
from lib.slicers.models import Slicer
from lib.ui.kit import redraw
from lib.ui.kit.markdown import plain

LOOK_SECONDS, LATEST = 0.5, 5
IMPORT_ENGINE = "imported"
_latest: dict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=LATEST))


@contextmanager
def speaking(
    what: str,
    query: AudienceQuery | ExportQuery,
    slicer: Slicer,
    view: Hashable = None,
    height: int = 0,
    widget: str = "",
) -> Iterator[None]:
    """Await the answers to a question about a slicer, which `view` shows, for the block `what`.

    A placeholder has a height in pixels; once there is a widget with the key `widget`, what was shown before
    stays, faded, until the new is there. Answers of imported slicers, and of remote services that don't name
    an engine, are awaited without words.
    """
    is_first = height > 0 and (not widget or widget not in st.session_state)
    with st.skeleton(height=height) if is_first else nullcontext(st.empty()):
        engine = slicer.engine or IMPORT_ENGINE
        if engine == IMPORT_ENGINE:
            yield
            return
        key, latest = _key(what), _latest[query.project_name, query.slicer_name, what]
        wait: Wait | None = st.session_state.get(key)
        if wait is None or wait.about != (query, view):
            if wait is not None:
                wait.give_up()
            wait = Wait(what, (query, view), engine, median(latest) if latest else None)
            st.session_state[key] = wait
        token = _current.set(wait)
        try:
            yield
        except NotReady:
            raise
        except Exception:
            st.session_state.pop(key, None)
            raise
        finally:
            _current.reset(token)
        st.session_state.pop(key, None)
    if wait.has_waited:
        latest.append(wait.seconds)


def draw(what: str) -> None:
    """Draw, in the place of a block that is not there yet, what is computed; or that it was given up."""
    wait: Wait = st.session_state[_key(what)]
    if not wait.is_given_up:
        redraw.when(lambda: wait.is_over, f"over_{what}", lambda: _draw_words(wait, what), LOOK_SECONDS)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Cancelled: nothing is computed for it any more. Your question is kept.")
        st.button("Compute", key=f"compute_{what}", on_click=st.session_state.pop, args=(_key(what), None))


def _draw_words(wait: Wait, what: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(wait.sentence))
        st.button("Cancel", key=f"cancel_{what}", on_click=wait.give_up)


def _key(what: str) -> str:
    return f"waiting_{what}"
