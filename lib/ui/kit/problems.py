"""Error messages: what happened, what was kept, what to do next, with the details folded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

from lib.ui.kit import retry, waiting
from lib.ui.kit.markdown import plain
from lib.wire.errors import (
    LIMITED,
    AccessError,
    BadRequest,
    CircuitOpen,
    DeadlineExceeded,
    DealsError,
    InternalError,
    Refused,
    ResponseTimeout,
    RightsChanged,
    ServiceProblem,
    StoreUnavailable,
    TooLarge,
    TrancheError,
    Unauthorized,
    Unreachable,
)

Result = TypeVar("Result")
NOT_LET_IN = "The service rejected our credentials. Ask an administrator to check the token in the settings."
NEXT: tuple[tuple[type[TrancheError], str], ...] = (
    (Unreachable, "The service can't be reached. Try again in a moment."),
    (ResponseTimeout, "The service did not answer in time. Try again in a moment."),
    (DeadlineExceeded, "That took too long. Choose fewer days or a smaller split."),
    (Refused, NOT_LET_IN),
    (Unauthorized, NOT_LET_IN),
    (AccessError, "You have no permission for this slicer. Choose another one, or ask an administrator."),
    (TooLarge, "The response is larger than Tranche accepts. Choose fewer days or a smaller split."),
    (
        ServiceProblem,
        "The service returned a response that can't be read. Try again, or tell whoever runs it.",
    ),
    (InternalError, "The service had an internal error. Try again, or tell whoever runs it."),
)
FOR_EVERYBODY = (BadRequest, DealsError, CircuitOpen, StoreUnavailable, RightsChanged)


@contextmanager
def report_errors(what: str, effect: str = "Your question is kept.") -> Iterator[None]:
    """Show an error of the block as a sentence about `what`; `effect` says what was kept.

    Where its answers are not there yet, words say so (waiting.py).
    """
    try:
        yield
    except waiting.NotReady:
        waiting.draw(what)
    except TrancheError as error:
        show(error, what, effect)
    else:
        retry.note_success(what)


def show(error: TrancheError, what: str, effect: str) -> None:
    """Draw the error as a sentence with folded details, and a button to retry if that may help."""
    text = sentence(error)
    st.error(f"{text} {effect}", title=f"{plain(what)} could not be loaded", icon=":material/error:")
    if plain(error.reason.rstrip(".")) not in text:
        with st.expander("Details"):
            st.code(details(error), language=None, wrap_lines=True)
    retry.offer(error, what)


def details(error: TrancheError) -> str:
    """The error's own words, and the id of the request, which the service's log has too."""
    if not error.request_id or error.request_id in error.reason:
        return error.reason
    return f"{error.reason}\nRequest ID: {error.request_id}"


def is_open(error: TrancheError) -> bool:
    """Whether a write may have succeeded in spite of the error: the request was sent, but no answer came."""
    return isinstance(error, ServiceProblem | DeadlineExceeded) and not isinstance(error, CircuitOpen)


def attempt(work: Callable[[], Result]) -> tuple[Result | None, str]:
    """The result of `work` and an empty text; where it fails, None and the error's reason as a sentence."""
    try:
        return work(), ""
    except TrancheError as error:
        return None, error.sentence


def attempt_write(key: str, work: Callable[[], object]) -> bool:
    """Whether `work` succeeded; else what became of it is noted under this key, for `draw_problem`."""
    st.session_state.pop(key, None)
    try:
        work()
    except TrancheError as error:
        outcome = "It may have succeeded." if is_open(error) else "Nothing was changed."
        st.session_state[key] = f"{error.sentence} {outcome}"
        return False
    return True


def draw_problem(key: str) -> None:
    """Draw the sentence that a callback has noted under this key, once."""
    if problem := st.session_state.pop(key, None):
        st.error(plain(problem), icon=":material/error:")


def older(error: TrancheError, what: str) -> None:
    """Draw a note that older data is shown because it can't be read again."""
    st.warning(f"{sentence(error)} What you see was loaded earlier.", icon=":material/history:")
    retry.offer(error, what)


def sentence(error: TrancheError) -> str:
    """An error in plain words: what happened and what to do next, for people who don't run services."""
    is_limit = isinstance(error, AccessError) and error.reason.startswith(LIMITED)
    if is_limit or (isinstance(error, FOR_EVERYBODY) and not isinstance(error, Unauthorized)):
        return f"{plain(error.sentence)}"
    return next((sentence for kind, sentence in NEXT if isinstance(error, kind)), "The service failed.")
