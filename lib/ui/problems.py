"""What is said when something fails: what happened, what was kept, what to do next; details folded."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from lib.ui import again
from lib.ui.markdown import plain
from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    Resting,
    ServiceProblem,
    Throttled,
    TrancheError,
    Unreachable,
)

NEXT: dict[type[TrancheError], str] = {
    Unreachable: "The service can't be reached. Try again in a moment.",
    DeadlineExceeded: "That took too long. Ask for fewer days or a smaller split.",
    AccessError: "You may not see this slicer any more. Choose another one, or ask an administrator.",
    ServiceProblem: "The service gave an answer that can't be read. Try again, or tell whoever runs it.",
}
FOR_EVERYBODY = (BadRequest, Resting, Throttled)


@contextmanager
def told(what: str, kept: str = "Your question is kept as it was.") -> Iterator[None]:
    """Show a failure of the block as a sentence about `what`; `kept` says what stays as it was."""
    try:
        yield
    except TrancheError as error:
        show(error, what, kept)


def show(error: TrancheError, what: str, kept: str) -> None:
    """The failure as a sentence, its details folded, and where it may pass, the way to try again."""
    said = next((text for kind, text in NEXT.items() if isinstance(error, kind)), "The service failed.")
    if isinstance(error, FOR_EVERYBODY):
        said = f"{plain(error.reason.rstrip('.'))}."
    st.error(f"{said} {kept}", title=f"{what} could not be had", icon=":material/error:")
    with st.expander("Details"):
        st.code(error.reason, language=None, wrap_lines=True)
    again.offer(error, what)
