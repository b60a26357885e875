"""Background computations about a targeting: started, shown as they arrive, and cancelled.

No `SessionCache`: a place has one batch, whatever its age, and the next one cancels it.
"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from lib.insight.dead_search import DeadSearch
from lib.insight.query_batch import QueryBatch
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

KEPT, MOMENT_SECONDS, POLL_SECONDS = "insights", 0.2, 1.0
Key = tuple[object, ...]


def query_batch(context: PageContext, place: str, queries: Sequence[AudienceQuery]) -> QueryBatch:
    """The questions of this place on the screen; those that it asked before are given up."""
    kept: dict[str, tuple[Key, QueryBatch]] = st.session_state.setdefault(KEPT, {})
    key = (context.person.username, *queries)
    known = kept.get(place)
    if known is None or known[0] != key:
        if known is not None:
            known[1].cancel()
        ask = partial(context.reporting.audience, slicer=context.slicer)
        known = kept[place] = (key, QueryBatch(ask, queries))
    return known[1]


def answers_or_progress(batch: QueryBatch, place: str, what: str) -> list[Audience] | None:
    """All answers if they come in a moment; else says how far it is, and draws again when they have come.

    Where a question failed its error is raised, and this place asks again next time.
    """
    if batch.wait(MOMENT_SECONDS):
        try:
            return batch.answers()
        except TrancheError:
            forget(place)
            raise
    come, of = batch.come
    st.caption(f":material/hourglass_top: Computing {what}: {come} of {of} questions answered.")
    look_again(batch)
    return None


def look_again(found: QueryBatch | DeadSearch) -> None:
    """Draw the screen again once it is done."""
    st.fragment(_look, run_every=POLL_SECONDS)(found)


def forget(place: str) -> None:
    """Ask again next time: what came was a failure. Whatever is on its way is given up."""
    kept: dict[str, tuple[Key, QueryBatch]] = st.session_state.get(KEPT, {})
    if (known := kept.pop(place, None)) is not None:
        known[1].cancel()


def _look(found: QueryBatch | DeadSearch) -> None:
    if found.is_done:
        st.rerun()
