"""What every form that creates keeps and says: a package, deals that are added to one, the clone of a deal.

Whatever is clicked twice, it is created once: a form has one key until that is used up. A service that honors
no keys is asked again only by somebody who has looked whether it is there.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from lib.figures.error_text import is_open
from lib.ui.deals import catalog
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.confirmations import Point
from lib.ui.deals.changes.creation import CreationPlan, FormSource, PlannedCreation
from lib.ui.kit.field_problems import FieldProblems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import Conflict, Invalid, TrancheError

INPUT_NOTE = "What you entered is kept."
LOOK = f"It may have been created: check the service and Deals before you retry. {INPUT_NOTE}"


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


class CreationForm(FormTry):
    """The form of this prefix: its key, and what became of the last try."""

    @property
    def key(self) -> str:
        """The idempotency key of what it creates; empty once that is created, or before there is a form."""
        return str(st.session_state.get(f"{self.prefix}key", ""))

    def begin(self, key: str = "") -> None:
        """Have a key: this one, or one of its own. A form that has one keeps it."""
        st.session_state.setdefault(f"{self.prefix}key", key or str(uuid.uuid4()))

    @property
    def is_doubtful(self) -> bool:
        """Whether nobody knows what became of the last request, and a second one could create it twice."""
        return f"{self.prefix}asked" in st.session_state

    def note_doubt(self) -> None:
        """Have somebody look before the next try."""
        st.session_state[f"{self.prefix}asked"] = True

    def may_retry(self) -> bool:
        """Draw why the last try failed; whether the next one waits for nobody who has to look."""
        self.draw_failure(LOOK if self.is_doubtful else "")
        return not self.is_doubtful or st.checkbox("It was not created: retry", key=f"{self.prefix}sure")

    def may_create(self) -> bool:
        """Whether a click is to create something now; it begins a new try.

        No for the second click of a double click, and for one that somebody has to look before.
        """
        if not self.key or (self.is_doubtful and not st.session_state.get(f"{self.prefix}sure")):
            return False
        self.begin_try()
        return True

    def create(
        self,
        context: PageContext,
        title: str,
        creations: Sequence[PlannedCreation],
        request: Any,
        *,
        keep: Callable[[], object] = lambda: None,
        approve: Callable[[Callable[[], int]], object] = lambda write: write(),
        in_form: Callable[[CreationPlan, Invalid], Invalid] = lambda _, error: error,
    ) -> CreationPlan | None:
        """Create these by a plan; None where that failed, which is noted for the form.

        `title` is what Undo calls it; `request` and `in_form` say at which fields refusals stand. `keep`
        stores a form that is in doubt once its request is sent; `approve` is called with what sends it and
        returns the first id.
        """
        self._forget_doubt()
        record = context.clients.bulk_actions.record(title)
        source = FormSource(creations=creations)
        plan = CreationPlan(source=source, record=record, idempotency_key=self.key, few=1)
        is_once = False
        try:
            is_once = context.deals.abilities.repeats
            if not is_once:
                self.note_doubt()  # before it is sent: the session may end while an answer is waited for
                keep()
            approve(partial(plan.finish, context.deals))
        except TrancheError as error:
            if not is_open(error):
                self._forget_doubt()
            remains = [outcome.reason for outcome in plan.outcomes if outcome.reason and plan.entities]
            if remains:
                self.fail(remains[-1])
            elif isinstance(error, Invalid):
                self.refuse(in_form(plan, error), request)
            else:
                self.fail(f"{error.sentence} {advice(error, is_once)}")
            return None
        finally:
            st.session_state[f"{self.prefix}key"] = plan.idempotency_key
            catalog.forget()
        self._forget_doubt()
        return plan

    def _forget_doubt(self) -> None:
        """Nobody has to look before the next try."""
        for name in ("asked", "sure"):
            st.session_state.pop(self.prefix + name, None)


def advice(error: TrancheError, is_once: bool) -> str:
    """What was kept and what to do next. `is_once`: a repeated request creates it only once."""
    if isinstance(error, Conflict):
        return "What you entered is kept: check Deals before you retry."
    if is_open(error):
        return "What you entered is kept. You can retry: it won't be created twice." if is_once else LOOK
    return f"Nothing was created. {INPUT_NOTE}"
