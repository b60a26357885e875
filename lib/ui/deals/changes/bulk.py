"""Pausing or resuming many entities: a confirmation, then progress, then what failed and why."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import streamlit as st

from lib.deals.models import PackageOrDeal
from lib.ui.deals import catalog
from lib.ui.deals.changes import change_steps, edit_several
from lib.ui.deals.changes.change_job import BatchJob, Effect, Outcome, with_full_stop
from lib.ui.deals.changes.change_steps import count_label, number
from lib.ui.deals.list import list_state
from lib.ui.deals.list.deal_rows import KINDS, DealRow, Key, title_of
from lib.ui.deals.list.list_state import ListSearch
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

JOB = "deals_job"
VERBS = {False: ("Pause", "paused", "pause"), True: ("Resume", "resumed", "play_arrow")}


@dataclass(kw_only=True)
class BulkJob(BatchJob):
    """The pause or resumption of `rows`; it waits, as its preview, until somebody has confirmed it."""

    entity: str
    is_active: bool
    rows: Sequence[DealRow]

    def __post_init__(self) -> None:
        before, after = {"is_active": not self.is_active}, {"is_active": self.is_active}
        self.effects = [Effect(row.key, row.name, before, after) for row in self.rows]
        self.phase = "preview"

    def effect(self, entity: PackageOrDeal, key: Key) -> Effect:
        """What becomes of an entity, which may be so already."""
        before, after = {"is_active": entity.is_active}, {"is_active": self.is_active}
        return Effect(key, title_of(entity), before, {} if before == after else after)

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return next(row.name for row in self.rows if row.key == key)


def question(search: ListSearch) -> Hashable:
    """The query behind a choice of everything, without order and page."""
    return search.entity, search.text, search.meanings, search.filters


def draw(context: PageContext, search: ListSearch, count: int, list_view: list_state.ListView) -> None:
    """Draw the buttons for the chosen rows, and the dialog of a running change.

    Where none is chosen in a list that is searched or filtered, they are for all that it finds.
    """
    if catalog.abilities(context).why_not(search.entity, "change"):
        return
    selection = [row for row in list_view.selection.values() if row.entity == search.entity]
    is_chosen = list_view.all_of == question(search)
    _choice(search, count, len(selection), is_chosen)
    is_all = is_chosen or (search.is_narrowed and not selection)
    for is_active, (label, _, icon) in VERBS.items():
        affected_rows = [row for row in selection if _is_concerned(row, is_active)]
        total = count if is_all else len(affected_rows)
        st.button(
            edit_several.button_title(label, total, is_all), icon=f":material/{icon}:",
            key=f"deals_{label.lower()}", disabled=not total, on_click=_ask,
            args=(context, search, is_active, None if is_all else affected_rows),
        )  # fmt: skip
    edit_several.draw(context, search, count, selection, is_all)
    if (job := st.session_state.get(JOB)) is not None:
        title = f"{VERBS[job.is_active][0]} {count_label(KINDS[job.entity], len(job.rows))}"
        st.dialog(title, on_dismiss=_close)(_dialog)(context, job)


def _choice(search: ListSearch, count: int, size: int, is_all: bool) -> None:
    """Draw the number of chosen rows, and the buttons that choose all results or none."""
    if size or is_all:
        st.caption(f"All {number(count)} chosen" if is_all else f"{number(size)} chosen", width="content")
    if size and not is_all and count > size:
        st.button(
            f"Choose all {number(count)}", type="tertiary", key="deals_choose_all",
            on_click=list_state.choose_all, args=(question(search),),
        )  # fmt: skip
    if size or is_all:
        st.button("Clear", type="tertiary", key="deals_choose_none", on_click=list_state.choose_none)


def _ask(context: PageContext, search: ListSearch, is_active: bool, rows: Sequence[DealRow] | None) -> None:
    """Open the confirmation; if all are chosen, the service says which rows are affected. A callback."""
    reason = ""
    try:
        if rows is None:
            matches = catalog.rows_by_name(context.deals, search, is_active=not is_active)
            rows = [row for row in matches if _is_concerned(row, is_active)]
    except TrancheError as error:
        reason = with_full_stop(error.reason)
    record = context.clients.bulk_actions.record(VERBS[is_active][1].capitalize())
    job = BulkJob(entity=search.entity, is_active=is_active, rows=rows or [], record=record)
    if reason:
        job.outcomes, job.phase = [Outcome(Effect((search.entity, 0), "The list"), reason)], "done"
    st.session_state[JOB] = job


def _is_concerned(row: DealRow, is_active: bool) -> bool:
    return row.is_active is not is_active and row.status != "complete"


def _dialog(context: PageContext, job: BulkJob) -> None:
    """Draw the confirmation, then the progress, then the result."""
    with st.empty().container():
        if job.phase == "preview":
            _confirm(job)
        elif job.is_running:
            change_steps.run(context, job)
        else:
            _result(job)


def _confirm(job: BulkJob) -> None:
    (verb, state, _), total = VERBS[job.is_active], len(job.rows)
    if not total:
        st.markdown(f"Nothing to do: none of them can be {state}.")
        return
    effect = "They can be bought again." if job.is_active else "They can't be bought until they are resumed."
    count = count_label(KINDS[job.entity], total)
    st.markdown(f"**{count}** will be {state}. {effect}")
    with st.expander("Which"):
        names = [row.name for row in job.rows[:20]]
        more = f"\n- and {number(total - 20)} more" if total > len(names) else ""
        st.markdown("\n".join(f"- {plain(name)}" for name in names) + more)
    st.button(f"{verb} {count}", type="primary", key="job_start", on_click=job.start)


def _result(job: BulkJob) -> None:
    successes = sum(not one.reason for one in job.outcomes) - len(job.same)
    sentence = f"{count_label(KINDS[job.entity], successes)} {VERBS[job.is_active][1]}"
    if job.same:
        sentence += f", {number(len(job.same))} {'was' if len(job.same) == 1 else 'were'} so already"
    change_steps.draw_verdict(job, sentence)
    if job.failures:
        names, reasons = zip(*((one.effect.name, one.reason) for one in job.failures), strict=True)
        change_steps.draw_table({"Name": names, "Why": reasons}, "What failed")
    with st.container(horizontal=True):
        change_steps.close_button("job_", _close)
        if successes:
            change_steps.offer_undo(job.record, _close)


def _close() -> None:
    """Close the dialog; rows that were not sent stay as they are. A callback."""
    job: BulkJob | None = st.session_state.pop(JOB, None)
    if job is not None and job.phase != "preview":
        job.stop()
        list_state.choose_none()
        catalog.forget()
