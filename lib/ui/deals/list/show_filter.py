"""The picker of the list for what waits for somebody: trouble, unauthorized supply, buyers' answers."""

import streamlit as st

from lib.deals.fields import DEALS
from lib.ui.deals import list_state
from lib.ui.deals.buyers import answer_panel
from lib.ui.deals.insight import health_view, supply_path
from lib.ui.deals.list_state import Filters
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors

KEY = "show"
ATTENTION, UNAUTHORIZED, ANSWERED = "attention", "unauthorized", "answered"
TITLES = {ATTENTION: "Needs attention", UNAUTHORIZED: "Unauthorized", ANSWERED: "Answered"}
MEANINGS = {
    ATTENTION: "Faults in settings, a funnel that broke, a buyer who counts otherwise, unauthorized supply, "
    "a goal out of reach.",
    UNAUTHORIZED: supply_path.MEANING,
    ANSWERED: "The buyer accepted, declined or proposed terms through a share link, and waits for us.",
}


def draw(context: PageContext, entity: str) -> str:
    """Draw the picker; its choice, empty for the whole list. Nothing where there is nothing to choose."""
    state, options = st.session_state, [ATTENTION] if entity == DEALS else []
    with report_errors("The supply path", effect="The list is shown whole."):
        if supply_path.index(context).systems:
            options.append(UNAUTHORIZED)
    if entity == DEALS and (answer_panel.answered_ids(context.person) or state.get(KEY) == ANSWERED):
        options.append(ANSWERED)
    if state.get(KEY) not in (None, *options):
        state[KEY] = None  # of the other kind of list
    if not options:
        return ""
    choice: str | None = st.selectbox(
        "Show", options, index=None, key=KEY, bind="query-params", format_func=TITLES.__getitem__,
        placeholder="Show all", label_visibility="collapsed", on_change=list_state.start_over,
    )  # fmt: skip
    return choice or ""


def filters(context: PageContext, entity: str, choice: str, order: str) -> tuple[Filters, str]:
    """The part of the list's filters that this choice and order need, or why it can't be filtered so."""
    conditions, why_not = health_view.filters(context, choice == ATTENTION, order)
    ids: tuple[str, ...] | None = None
    if choice == UNAUTHORIZED:
        ids, why_not = supply_path.unauthorized_ids(context, entity)
    if choice == ANSWERED:
        ids = tuple(map(str, answer_panel.answered_ids(context.person)))
    return conditions if ids is None else (*conditions, ("id", ids or ("0",))), why_not


def draw_refusal(why: str) -> None:
    """Draw why the list is not filtered, in place of a list that would have everything."""
    st.warning(f"The list can't be filtered so now. {plain(why)}", icon=":material/filter_alt_off:")
    st.button(
        "Show all", icon=":material/filter_list_off:", key="show_all", on_click=st.session_state.update,
        args=({KEY: None},),
    )  # fmt: skip
