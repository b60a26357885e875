"""Undo, redo and reset: the steps of this tab's question, beside the browser's own Back."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from lib.ui.frame.frame import Here
from lib.ui.question import question


def draw(here: Here) -> None:
    """Three buttons; each is disabled while there is nothing for it to do."""
    steps = question.steps()
    _button("Undo", "undo", question.undo, bool(steps.past))
    _button("Redo", "redo", question.redo, bool(steps.undone))
    _button("Reset", "restart_alt", partial(question.reset, here), not question.is_usual(here))


def _button(label: str, icon: str, act: Callable[[], None], is_possible: bool) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        type="tertiary",
        key=f"question_{label.lower()}",
        help=label,
        disabled=not is_possible,
        on_click=_done,
        args=(act,),
    )


def _done(act: Callable[[], None]) -> None:
    act()
    st.rerun()
