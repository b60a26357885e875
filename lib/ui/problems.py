"""What is said when something fails: what happened, what was kept, what to do next; details folded."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    ServiceProblem,
    TrancheError,
    Unreachable,
)

NEXT: dict[type[TrancheError], str] = {
    Unreachable: "The service can't be reached. Try again in a moment.",
    DeadlineExceeded: "That took too long. Ask for fewer days or a smaller split.",
    AccessError: "You may not see this slicer any more. Choose another one, or ask an administrator.",
    BadRequest: "The service can't answer this question as it stands.",
    ServiceProblem: "The service gave an answer that can't be read. Try again, or tell whoever runs it.",
}


@contextmanager
def told(what: str, kept: str = "Your question is kept as it was.") -> Iterator[None]:
    """Show a failure of the block as a sentence about `what`; `kept` says what stays as it was."""
    try:
        yield
    except TrancheError as error:
        known = next((text for kind, text in NEXT.items() if isinstance(error, kind)), "The service failed.")
        st.error(
            f"{known} {kept}",
            title=f"{what} could not be had",
            icon=":material/error:",
        )
        with st.expander("Details"):
            st.code(error.reason, language=None, wrap_lines=True)
