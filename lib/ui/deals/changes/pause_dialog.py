"""Pausing or resuming many entities: a confirmation, then progress, then what failed and why."""

from collections.abc import Sequence

import streamlit as st

from lib.deals.bulk_actions import BulkActions
from lib.figures.deals.deal_names import KINDS
from lib.ui.deals import catalog, list_state
from lib.ui.deals.changes import edit_dialog
from lib.ui.deals.changes.plan import ChangePlan, PlannedChange
from lib.ui.deals.changes.plan_steps import PlanSteps, step_container
from lib.ui.deals.changes.shared_change import ActiveSource
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.deal_rows import DealRow
from lib.ui.deals.list_state import ListSearch
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError

PLAN, ALL = "deals_job", "deals_active"
EFFECTS = {False: "They can't be bought until they are resumed.", True: "They can be bought again."}
VERBS = {False: ("Pause", "paused", "pause"), True: ("Resume", "resumed", "play_arrow")}


def draw(context: PageContext, search: ListSearch, count: int, list_view: list_state.ListView) -> None:
    """Draw the buttons for the chosen rows, and the dialog of a running change.

    Where none is chosen in a list that is searched or filtered, they are for all that it finds. Of all it is
    not known how many run, so that both actions are in one menu.
    """
    if catalog.abilities(context).why_not(search.entity, "change"):
        return
    selection = [row for row in list_view.selection.values() if row.entity == search.entity]
    is_chosen, size = list_view.all_of == search.conditions, len(selection)
    if size or is_chosen:
        st.caption(f"All {number(count)} chosen" if is_chosen else f"{number(size)} chosen", width="content")
    if size and not is_chosen and count > size:
        st.button(
            f"Choose all {number(count)}", type="tertiary", key="deals_choose_all",
            on_click=list_state.choose_all, args=(search.conditions,),
        )  # fmt: skip
    if size or is_chosen:
        st.button("Clear", type="tertiary", key="deals_choose_none", on_click=list_state.choose_none)
    is_all = is_chosen or (search.is_narrowed and not selection)
    if is_all and count:
        st.menu_button(
            "Pause or resume", [*VERBS], icon=":material/pause:", key=ALL, on_click=_ask_all,
            args=(context, search),
            format_func=lambda is_active: edit_dialog.button_title(VERBS[is_active][0], count, is_all),
        )  # fmt: skip
    for is_active, (label, _, icon) in () if is_all else VERBS.items():
        rows = [row for row in selection if (row.is_active is not is_active and row.status != "complete")]
        st.button(
            edit_dialog.button_title(label, len(rows), is_all), icon=f":material/{icon}:",
            key=f"deals_{label.lower()}", disabled=not rows, on_click=_ask,
            args=(context, search, is_active, rows),
        )  # fmt: skip
    edit_dialog.draw(context, search, count, selection, is_all)
    if (plan := st.session_state.get(PLAN)) is not None:
        title = (
            f"{VERBS[plan.source.is_active][0]} {count_label(KINDS[search.entity], len(plan.source.rows))}"
        )
        st.dialog(title, on_dismiss=_close)(_dialog)(context, plan)


def _ask_all(context: PageContext, search: ListSearch) -> None:
    """Open the confirmation for all that the list finds. A callback."""
    _ask(context, search, st.session_state[ALL], None)


def _ask(context: PageContext, search: ListSearch, is_active: bool, rows: Sequence[DealRow] | None) -> None:
    """Open the confirmation; if all are chosen, the service says which rows are affected. A callback."""
    reason = ""
    try:
        if rows is None:
            matches = catalog.rows_by_name(context.deals, search, is_active=not is_active)
            rows = [row for row in matches if (row.is_active is not is_active and row.status != "complete")]
    except TrancheError as error:
        reason = error.sentence
    st.session_state[PLAN] = active_plan(context.clients.bulk_actions, search.entity, is_active, rows or [])
    if reason:
        st.session_state[PLAN].changes = [PlannedChange((search.entity, 0), "The list", refusal=reason)]


def active_plan(
    actions: BulkActions, entity: str, is_active: bool, rows: Sequence[DealRow]
) -> ChangePlan[ActiveSource]:
    """The pause or resumption of these rows, at its preview: it waits until somebody has confirmed it."""
    names = {row.key: row.name for row in rows}
    source = ActiveSource(entity=entity, rows=rows, is_active=is_active, names=names)
    record = actions.record(VERBS[is_active][1].capitalize())
    return ChangePlan(source=source, record=record, changes=source.from_list(), phase="preview")


def _dialog(context: PageContext, plan: ChangePlan[ActiveSource]) -> None:
    verb, state, _ = VERBS[plan.source.is_active]
    with step_container():
        PlanSteps(
            "job_", lambda changes: {}, _close, verb=verb, done=state, effect=EFFECTS[plan.source.is_active]
        ).draw(context, plan)


def _close() -> None:
    """Close the dialog; rows that were not sent stay as they are. A callback."""
    plan: ChangePlan[ActiveSource] | None = st.session_state.pop(PLAN, None)
    if plan is not None and plan.phase != "preview":
        plan.stop()
        list_state.choose_none()
        catalog.forget()
