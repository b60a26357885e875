"""The answer to "What moved", computed once and cached briefly in the session."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import streamlit as st

from lib.reporting.models import TIME_KEY_FIELDS
from lib.reporting.moved import explain
from lib.reporting.moved.explain import Moved
from lib.ui.question import ask
from lib.ui.question.focus import Focus

FOUND, MOST, AT_ONCE = "moved_found", 4, 6
Key = tuple[object, ...]
Kept = dict[Key, tuple[float, "Future[Moved]"]]


def found(seen: Focus) -> Moved:
    """The values that moved the field shown between the two periods. Raises the service's errors.

    Who comes while it is computed waits for it: a run that a newer one has overtaken asks nothing twice.
    """
    kept: Kept = st.session_state.setdefault(FOUND, {})
    key = (seen.here.person.username, seen.query, seen.comparison, seen.field.name)
    mine = (time.monotonic(), Future[Moved]())
    since, future = kept.setdefault(key, mine)
    if time.monotonic() - since > ask.SECONDS:
        kept[key] = mine
        future = mine[1]
    if future is mine[1]:
        _settle(seen, kept, key, future)
    return future.result()


def _settle(seen: Focus, kept: Kept, key: Key, future: "Future[Moved]") -> None:
    for old in list(kept)[:-MOST]:
        kept.pop(old, None)
    try:
        future.set_result(_asked(seen))
    except BaseException as error:
        kept.pop(key, None)
        future.set_exception(error)


def _asked(seen: Focus) -> Moved:
    if seen.comparison is None:
        raise ValueError("no days are compared")
    names = [field.name for field in seen.slicer.key_fields if field.name not in TIME_KEY_FIELDS]
    days = (seen.comparison.before, seen.comparison.now)
    one = partial(seen.here.reporting.audience, slicer=seen.slicer)
    with ThreadPoolExecutor(AT_ONCE, "moved") as pool:
        return explain.explained(
            lambda queries: list(pool.map(one, queries)), seen.query, seen.slicer, seen.field, days, names
        )
