"""The screen New package: the form, and beside it what the targeting had and what will be created."""

import streamlit as st

from lib.ui import leaving
from lib.ui.deals import catalogue
from lib.ui.frame import Here
from lib.ui.package import form, panel, review, state
from lib.ui.problems import older, told
from lib.ui.targeting import picker
from lib.ui.targeting.filters import entries, report_filters

STAYS = """<style>
[data-testid=stLayoutWrapper]:has(> .st-key-np_beside) { position: sticky; top: 4.5rem; }
</style>"""


def draw(here: Here) -> None:
    """The form until its package is there, then what was created."""
    created = st.session_state.get(state.CREATED)
    if created is not None:
        review.done(created)
        return
    state.begin()
    with told("The form", kept="What you entered is kept."):
        _draw(here)
    if trouble := catalogue.trouble(here):
        older(trouble, "Seats and lists")


def _draw(here: Here) -> None:
    draft = state.read(catalogue.named_lists(here))
    left, right = st.columns([8, 5], gap="large")
    problems = state.problems(draft)
    with left:
        form.draw(here, draft, problems)
    st.html(STAYS)
    with right, st.container(key="np_beside"):
        lists = entries(catalogue.lists(here))
        panel.draw(here, report_filters(draft.targeting, here.slicer, lists, draft.media_type))
        described = picker.described(here, catalogue.usual_days(here), draft.targeting)
        review.draw(here, draft, problems, described)
    leaving.ask_before(not draft.is_untouched)
