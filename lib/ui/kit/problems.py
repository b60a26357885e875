"""Error messages: what happened, what was kept, what to do next, with the details folded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

from lib.figures import waits
from lib.figures.error_text import details, is_open, sentence
from lib.ui.kit import retry, waiting
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

Result = TypeVar("Result")


@contextmanager
def report_errors(what: str, effect: str = "Your question is kept.") -> Iterator[None]:
    """Show an error of the block as a sentence about `what`; `effect` says what was kept.

    Where its answers are not there yet, words say so (waiting.py).
    """
    try:
        yield
    except waits.NotReady:
        waiting.draw(what)
    except TrancheError as error:
        show(error, what, effect)
    else:
        retry.note_success(what)


def show(error: TrancheError, what: str, effect: str) -> None:
    """Draw the error as a sentence with folded details, and a button to retry if that may help."""
    text = plain(sentence(error))
    st.error(f"{text} {effect}", title=f"{plain(what)} could not be loaded", icon=":material/error:")
    if error.reason.rstrip(".") not in sentence(error):
        with st.expander("Details"):
            st.code(details(error), language=None, wrap_lines=True)
    retry.offer(error, what)


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
    st.warning(f"{plain(sentence(error))} What you see was loaded earlier.", icon=":material/history:")
    retry.offer(error, what)
