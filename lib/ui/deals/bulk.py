"""Pausing or resuming many entities: a confirmation, then progress, then what failed and why."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from lib.deals.bulk_actions import ActionRecord, ActionRow
from lib.deals.client import Deals
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import catalogue, pages, permission, planned_steps, several, undo, view
from lib.ui.deals.list_search import ListSearch
from lib.ui.deals.planned_job import drop
from lib.ui.deals.rows import KINDS, DealRow
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import DeadlineExceeded, ServiceProblem, TrancheError

JOB, TOGETHER, PAUSE_SECONDS = "deals_job", 50, 0.1
VERBS = {False: ("Pause", "paused", "pause"), True: ("Resume", "resumed", "play_arrow")}


@dataclass
class BulkJob:
    """A change of many, as far as it has come. It is changed in place, between two looks at the session, so
    that a run that is broken off loses nothing of it.

    `left` are those not sent yet, `failed` are names with reasons, `same` were so already; `waits` until
    somebody has confirmed it. `record` is what its Undo works from.
    """

    entity: str
    is_active: bool
    left: list[DealRow]
    total: int
    record: ActionRecord
    done: int = 0
    same: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    waits: bool = True
    is_stopped: bool = False

    def step(self, client: Deals) -> None:
        """Change the next ones. What the service may have done without an answer counts as failed, and the
        rest is not sent: each would be waited for."""
        some, self.left = self.left[:TOGETHER], self.left[TOGETHER:]
        try:
            found = client.get_many(self.entity, [row.id for row in some])
            rows = [self._row(found[row.id]) for row in some if row.id in found]
            rows = [row for row in rows if row.before != row.after]
            self.record.add(rows)
        except TrancheError as error:
            self.is_stopped = True
            self.failed += [(row.name, f"{error.reason.rstrip('.')} (not sent)") for row in some]
            return
        refused = self._sent(client, [row.key[1] for row in rows])
        refused |= {row.id: "It is not there any more" for row in some if row.id not in found}
        self.same += len(found) - len(rows)
        self.done += len(some) - (len(found) - len(rows)) - len(refused)
        self.failed += [(row.name, refused[row.id]) for row in some if row.id in refused]

    def _row(self, found: Any) -> ActionRow:
        name = found.name or f"{KINDS[self.entity]} {found.id}"
        before, after = {"is_active": found.is_active}, {"is_active": self.is_active}
        return ActionRow((self.entity, found.id), name, before, after)

    def _sent(self, client: Deals, ids: list[int]) -> dict[int, str]:
        """Why some of these were not changed, or may not have been; those that were not are not recorded."""
        try:
            refused = client.change_each(self.entity, {one: {"is_active": self.is_active} for one in ids})
        except TrancheError as error:
            reason = error.reason.rstrip(".")
            if isinstance(error, ServiceProblem | DeadlineExceeded):
                self.is_stopped = True
                return dict.fromkeys(ids, f"{reason} (it may have succeeded)")
            refused = dict.fromkeys(ids, reason)
        drop(self.record, [(self.entity, one) for one in refused])
        return refused


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
        number = count if is_all else len(concerned)
        st.button(
            f"{label} {_number(number)}" if number else label,
            icon=f":material/{icon}:",
            key=f"deals_{label.lower()}",
            disabled=not number,
            on_click=_ask,
            args=(context, search, is_active, None if is_all else concerned),
        )
    several.draw(context, search, count, chosen, is_all)
    if (job := st.session_state.get(JOB)) is not None:
        title = f"{VERBS[job.is_active][0]} {_counted(job, job.total)}"
        st.dialog(title, on_dismiss=_close)(_dialog)(context, job)


def _choice(search: ListSearch, count: int, chosen: int, is_all: bool) -> None:
    """Draw the number of chosen rows, and the buttons that choose all results or none."""
    if is_all:
        st.caption(f"All {_number(count)} chosen", width="content")
    elif chosen:
        st.caption(f"{_number(chosen)} chosen", width="content")
    if chosen and not is_all and count > chosen:
        st.button(
            f"Choose all {_number(count)}", type="tertiary", key="deals_choose_all",
            on_click=view.choose_all, args=(question(search),),
        )  # fmt: skip
    if chosen or is_all:
        st.button("Clear", type="tertiary", key="deals_choose_none", on_click=view.choose_none)


def _ask(context: PageContext, search: ListSearch, is_active: bool, rows: Sequence[DealRow] | None) -> None:
    """Open the confirmation; if all are chosen, the service says which rows are affected. A callback."""
    job = BulkJob(
        search.entity, is_active, [], 0, context.clients.bulk_actions.record(VERBS[is_active][1].capitalize())
    )
    try:
        job.left = list(_everything(context, search, is_active)) if rows is None else list(rows)
        job.total = len(job.left)
    except TrancheError as error:
        job.failed, job.waits = [("The list", error.reason)], False
    st.session_state[JOB] = job


def _everything(context: PageContext, search: ListSearch, is_active: bool) -> Iterator[DealRow]:
    """All results of the list that the change affects."""
    for row in pages.named(catalogue.client(context), search, is_active=not is_active):
        if _is_concerned(row, is_active):
            yield row


def _is_concerned(row: DealRow, is_active: bool) -> bool:
    return row.is_active is not is_active and row.status != "complete"


def _dialog(context: PageContext, job: BulkJob) -> None:
    """Draw the confirmation, then the progress, then the result."""
    with st.empty().container():
        if job.waits:
            _confirm(job)
        elif job.left and not job.is_stopped:
            _run(context, job)
        else:
            _result(job)


def _confirm(job: BulkJob) -> None:
    verb = VERBS[job.is_active][0]
    if not job.total:
        st.markdown(f"Nothing to do: none of them can be {VERBS[job.is_active][1]}.")
        return
    effect = "They can be bought again." if job.is_active else "They can't be bought until they are resumed."
    st.markdown(f"**{_counted(job, job.total)}** will be {VERBS[job.is_active][1]}. {effect}")
    with st.expander("Which"):
        names = [row.name for row in job.left[:20]]
        more = f"\n- and {_number(job.total - 20)} more" if job.total > len(names) else ""
        st.markdown("\n".join(f"- {plain(name)}" for name in names) + more)
    st.button(
        f"{verb} {_counted(job, job.total)}", type="primary", key="job_start", on_click=_start, args=(job,)
    )


def _run(context: PageContext, job: BulkJob) -> None:
    """Run step by step. A click on Stop can't interrupt a fragment's run, so each step is its own run."""
    st.button("Stop", icon=":material/stop:", key="job_stop", on_click=_stop, args=(job,))
    st.fragment(_step, run_every=PAUSE_SECONDS)(context, job)


def _step(context: PageContext, job: BulkJob) -> None:
    """Run the next step; draw the progress, and at the end the result."""
    if job.left and not job.is_stopped:
        job.step(catalogue.client(context))
    sent = job.total - len(job.left)
    st.progress(float(sent / job.total), f"{_number(sent)} of {_number(job.total)}")
    if not job.left or job.is_stopped:
        st.rerun()


def _result(job: BulkJob) -> None:
    done = f"{_counted(job, job.done)} {VERBS[job.is_active][1]}"
    if job.same:
        done += f", {_number(job.same)} {'was' if job.same == 1 else 'were'} so already"
    if not job.failed and not job.left:
        st.success(f"{done}.", icon=":material/check_circle:")
    else:
        parts = [done, f"{_number(len(job.failed))} failed" if job.failed else ""]
        parts.append(f"{_number(len(job.left))} not sent" if job.left else "")
        st.warning(f"{', '.join(filter(None, parts))}.", icon=":material/info:")
    if job.failed:
        names, reasons = zip(*job.failed, strict=True)
        planned_steps.table({"Name": names, "Why": reasons}, "What failed")
    with st.container(horizontal=True):
        if st.button("Close", key="job_close"):
            _close()
            st.rerun()
        if job.done:
            undo.offer(job.record, _close)


def _start(job: BulkJob) -> None:
    """Start the change after the confirmation. A callback."""
    job.waits = False


def _stop(job: BulkJob) -> None:
    """Stop after the current step. A callback."""
    job.is_stopped = True


def _close() -> None:
    """Close the dialog; rows that were not sent stay as they are. A callback."""
    job: BulkJob | None = st.session_state.pop(JOB, None)
    if job is not None and not job.waits:
        job.is_stopped = True
        view.choose_none()
        catalogue.forget()


def _counted(job: BulkJob, number: int) -> str:
    word = KINDS[job.entity].lower()
    return f"{_number(number)} {word}{'' if number == 1 else 's'}"


def _number(number: int) -> str:
    return Numbers.of(st.context.locale).number(number)
