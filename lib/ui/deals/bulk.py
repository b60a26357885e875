"""Pausing or resuming many entities: a confirmation, then progress, then what failed and why."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import streamlit as st

from lib.deals.models import PackageOrDeal
from lib.ui.deals import catalogue, pages, permission, planned_steps, several, undo, view
from lib.ui.deals.list_search import ListSearch
from lib.ui.deals.planned_job import BatchJob, Outcome, with_full_stop
from lib.ui.deals.planned_steps import count_label, number
from lib.ui.deals.rows import KINDS, DealRow, Key
from lib.ui.deals.several_change import Effect
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
        self.effects = [Effect(row.key, row.name, frozenset({row.key}), before, after) for row in self.rows]
        self.phase = "preview"

    def effect(self, found: PackageOrDeal, key: Key) -> Effect:
        """What becomes of an entity, which may be so already."""
        name = found.name or f"{KINDS[key[0]]} {key[1]}"
        before, after = {"is_active": found.is_active}, {"is_active": self.is_active}
        return Effect(key, name, frozenset({key}), before, {} if before == after else after)

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return next((row.name for row in self.rows if row.key == key), f"{KINDS[key[0]]} {key[1]}")

    def refuse(self, reason: str) -> None:
        """Change nothing: it can't be said what is concerned."""
        nothing = Effect((self.entity, 0), "The list", frozenset())
        self.outcomes, self.phase = [Outcome(nothing, reason)], "done"


def question(search: ListSearch) -> Hashable:
    """The query behind a choice of everything, without order and page."""
    return search.entity, search.text, search.meanings, search.filters


def draw(context: PageContext, search: ListSearch, count: int, list_view: view.ListView) -> None:
    """Draw the buttons for the chosen rows, and the dialog of a running change."""
    if permission.of(context).why_not(search.entity, "change"):
        return
    is_all = list_view.all_of == question(search)
    chosen = [row for row in list_view.ticked.values() if row.entity == search.entity]
    _choice(search, count, len(chosen), is_all)
    for is_active, (label, _, icon) in VERBS.items():
        concerned = [row for row in chosen if _is_concerned(row, is_active)]
        total = count if is_all else len(concerned)
        st.button(
            f"{label} {number(total)}" if total else label,
            icon=f":material/{icon}:",
            key=f"deals_{label.lower()}",
            disabled=not total,
            on_click=_ask,
            args=(context, search, is_active, None if is_all else concerned),
        )
    several.draw(context, search, count, chosen, is_all)
    if (job := st.session_state.get(JOB)) is not None:
        title = f"{VERBS[job.is_active][0]} {count_label(job.entity, len(job.rows))}"
        st.dialog(title, on_dismiss=_close)(_dialog)(context, job)


def _choice(search: ListSearch, count: int, chosen: int, is_all: bool) -> None:
    """Draw the number of chosen rows, and the buttons that choose all results or none."""
    if is_all:
        st.caption(f"All {number(count)} chosen", width="content")
    elif chosen:
        st.caption(f"{number(chosen)} chosen", width="content")
    if chosen and not is_all and count > chosen:
        st.button(
            f"Choose all {number(count)}", type="tertiary", key="deals_choose_all",
            on_click=view.choose_all, args=(question(search),),
        )  # fmt: skip
    if chosen or is_all:
        st.button("Clear", type="tertiary", key="deals_choose_none", on_click=view.choose_none)


def _ask(context: PageContext, search: ListSearch, is_active: bool, rows: Sequence[DealRow] | None) -> None:
    """Open the confirmation; if all are chosen, the service says which rows are affected. A callback."""
    reason = ""
    if rows is None:
        try:
            rows = list(_everything(context, search, is_active))
        except TrancheError as error:
            rows, reason = [], with_full_stop(error.reason)
    record = context.clients.bulk_actions.record(VERBS[is_active][1].capitalize())
    job = BulkJob(entity=search.entity, is_active=is_active, rows=rows, record=record)
    if reason:
        job.refuse(reason)
    st.session_state[JOB] = job


def _everything(context: PageContext, search: ListSearch, is_active: bool) -> Iterator[DealRow]:
    """All results of the list that the change affects."""
    for row in pages.rows_by_name(catalogue.client(context), search, is_active=not is_active):
        if _is_concerned(row, is_active):
            yield row


def _is_concerned(row: DealRow, is_active: bool) -> bool:
    return row.is_active is not is_active and row.status != "complete"


def _dialog(context: PageContext, job: BulkJob) -> None:
    """Draw the confirmation, then the progress, then the result."""
    with st.empty().container():
        if job.phase == "preview":
            _confirm(job)
        elif job.is_running:
            planned_steps.run(context, job, lambda: None)
        else:
            _result(job)


def _confirm(job: BulkJob) -> None:
    (verb, paused, _), total = VERBS[job.is_active], len(job.rows)
    if not total:
        st.markdown(f"Nothing to do: none of them can be {paused}.")
        return
    effect = "They can be bought again." if job.is_active else "They can't be bought until they are resumed."
    count = count_label(job.entity, total)
    st.markdown(f"**{count}** will be {paused}. {effect}")
    with st.expander("Which"):
        names = [row.name for row in job.rows[:20]]
        more = f"\n- and {number(total - 20)} more" if total > len(names) else ""
        st.markdown("\n".join(f"- {plain(name)}" for name in names) + more)
    st.button(f"{verb} {count}", type="primary", key="job_start", on_click=job.start)


def _result(job: BulkJob) -> None:
    done = sum(not one.reason for one in job.outcomes) - len(job.same)
    sentence = f"{count_label(job.entity, done)} {VERBS[job.is_active][1]}"
    if job.same:
        sentence += f", {number(len(job.same))} {'was' if len(job.same) == 1 else 'were'} so already"
    planned_steps.verdict(job, sentence)
    if job.failed:
        names, reasons = zip(*((one.effect.name, one.reason) for one in job.failed), strict=True)
        planned_steps.table({"Name": names, "Why": reasons}, "What failed")
    with st.container(horizontal=True):
        if st.button("Close", key="job_close"):
            _close()
            st.rerun()
        if done:
            undo.offer(job.record, _close)


def _close() -> None:
    """Close the dialog; rows that were not sent stay as they are. A callback."""
    job: BulkJob | None = st.session_state.pop(JOB, None)
    if job is not None and job.phase != "preview":
        job.stop()
        view.choose_none()
        catalogue.forget()
