"""The screen New package: the form, and beside it what the targeting had and what will be created."""

import streamlit as st

from lib.insight.filters import entries, report_filters
from lib.ui.frame import clock, unsaved
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import older, reported
from lib.ui.new_package import faults, form, panel, price_guide, review, state, templates
from lib.ui.new_package.creation import Created
from lib.ui.supply import catalogue, costs, facts, per_day, permission
from lib.ui.supply.draft import Draft
from lib.ui.targeting import known, picker

STAYS = """<style>
[data-testid=stLayoutWrapper]:has(> .st-key-np_beside) { position: sticky; top: 4.5rem; }
@media (min-width: 641px) {
    [data-testid=stLayoutWrapper]:has(> .st-key-np_beside) {
        max-height: calc(100vh - 5rem); overflow-y: auto;
    }
}
</style>"""


def draw(here: Here) -> None:
    """The form until its package is there, then what was created."""
    created: Created | None = st.session_state.get(state.CREATED)
    if created is not None:
        unsaved.ask_before(False)
        review.done(here, created)
        return
    state.begin(here.clients.drafts)
    with st.container():  # always there, so that what comes and goes moves no other element
        _notes()
    with reported("The form", kept="What you entered is kept."):
        _draw(here)
    if trouble := catalogue.trouble(here):
        older(trouble, "Seats and lists")


def _notes() -> None:
    """That the form holds a draft of before, and what a copy does not have."""
    if at := st.session_state.get(state.FOUND):
        when = facts.moment(at.astimezone(clock.zone()))
        st.caption(f":material/history: Your draft from {when}. Start over discards it.")
    if note := st.session_state.get(state.NOTE):
        st.warning(plain(note), icon=":material/content_copy:")


def _draw(here: Here) -> None:
    draft = state.read(catalogue.named_lists(here))
    left, right = st.columns([8, 5], gap="large")
    found = faults.of(draft, bool(permission.of(here).fees))
    problems = state.problems(draft, found)
    lists = entries(catalogue.lists(here))
    translation = report_filters(draft.targeting, here.slicer, lists, draft.media_type)
    with left:
        templates.draw(here, draft)
        form.draw(here, draft, problems, translation)
    st.html(STAYS)
    with right, st.container(key="np_beside"):
        panel.draw(here, translation)
        closed = bool(permission.of(here).why_not("supply_deals", "create"))
        price_guide.draw(here, state.question(), draft, closed)
        query = catalogue.usual_days(here)
        described = picker.described(here, query, draft.targeting)
        marks = known.marks(here, query, [draft.targeting], with_unchecked=True)
        review.draw(here, draft, found, problems, described, marks)
        _keep(here, draft)
        booked = (draft.moment(draft.start), draft.moment(draft.end))
        per_day.draw(here, "form_days", translation.filters, booked)
        costs.draw(here, "form", draft.targeting, lists, draft.media_type, described)


def _keep(here: Here, draft: Draft) -> None:
    """Keep the draft; the browser asks before it is left only where that failed."""
    why_not = state.keep(here.clients.drafts, draft)
    if why_not:
        st.caption(f":orange[:material/warning: {plain(why_not)}]")
    elif not draft.is_untouched:
        st.caption("Saved as your draft until you create or discard it.")
    unsaved.ask_before(bool(why_not))
