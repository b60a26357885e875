"""What a form keeps in the session of the last try to save it, and says of it: for changes and creations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.confirmations import Point
from lib.ui.kit.field_problems import FieldProblems
from lib.ui.kit.markdown import plain
from lib.wire.errors import Invalid


@dataclass(frozen=True)
class FormTry:
    """The last try of the form whose keys begin with this prefix."""

    prefix: str

    @property
    def is_tried(self) -> bool:
        """Whether somebody has tried to save: what is missing is said from then on."""
        return f"{self.prefix}tried" in st.session_state

    def note_try(self) -> None:
        """Say what is missing from now on."""
        st.session_state[f"{self.prefix}tried"] = True

    def begin_try(self) -> None:
        """Say no longer what became of the try before."""
        for name in ("problems", "failure"):
            st.session_state.pop(self.prefix + name, None)
        self.note_try()

    @property
    def problems(self) -> FieldProblems:
        """What the service refused, by its place in the request."""
        problems: FieldProblems = st.session_state.get(f"{self.prefix}problems") or FieldProblems()
        return problems

    def refuse(self, error: Invalid, request: Any) -> None:
        """Show what the service refused until it is changed."""
        st.session_state[f"{self.prefix}problems"] = FieldProblems.of(error, request)

    def fail(self, sentence: str) -> None:
        """Show this until the next try."""
        st.session_state[f"{self.prefix}failure"] = sentence

    def draw_failure(self, otherwise: str = "") -> None:
        """Draw why the last try failed; `otherwise` is drawn where it did not."""
        if failure := st.session_state.get(f"{self.prefix}failure", otherwise):
            st.error(plain(failure), icon=":material/error:")

    def confirm(self, points: Sequence[Point], verb: str) -> None:
        """Draw the box that confirms these; after a try, that nothing was done without it."""
        refusal = f"Not {verb}: confirm this first." if self.is_tried else ""
        confirmations.confirm(points, self.prefix, refusal)

    def clear(self) -> None:
        """Forget all that the form holds in this session."""
        for key in [key for key in st.session_state if str(key).startswith(self.prefix)]:
            del st.session_state[key]
