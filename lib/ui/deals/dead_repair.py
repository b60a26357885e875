"""The repair of dead targets on screen: what each package would target, and the result."""

from collections.abc import Callable, Sequence

import streamlit as st

from lib.deals.bulk_actions import ActionRecord
from lib.deals.models import Targeting
from lib.insight.dead_targets import IncludedTarget
from lib.ui.deals import planned_steps, undo
from lib.ui.deals.dead_job import SUPPLY, RepairJob
from lib.ui.deals.dead_list import DeadRow
from lib.ui.deals.planned_steps import Results, became, note
from lib.ui.deals.several_change import Effect
from lib.ui.frame.frame import Here
from lib.ui.targeting import words
from lib.ui.targeting.words import Described

Describe = Callable[[Targeting], Described]
Action = Callable[[], None]


def begun(record: ActionRecord, chosen: Sequence[DeadRow]) -> RepairJob:
    """The repair of these rows, whose packages are read next."""
    targets: dict[int, list[IncludedTarget]] = {}
    for row in chosen:
        targets.setdefault(row.package.id or 0, []).append(row.dead.included)
    job = RepairJob(chosen=targets, names={row.package.id or 0: row.name for row in chosen}, record=record)
    job.begin([(SUPPLY, one) for one in targets])
    return job


def draw(here: Here, job: RepairJob, describe: Describe, back: Action, close: Action) -> None:
    """Draw the phase that it is in, with the ways back to the list and out of the dialog, both callbacks."""
    if job.phase in ("reading", "writing"):
        planned_steps.run(here, job, lambda: None)
    elif job.phase == "preview":
        _preview(job, describe, back)
    else:
        _result(job, describe, close)


def _preview(job: RepairJob, describe: Describe, back: Action) -> None:
    changes = planned_steps.changes([one for one in job.effects if one.is_change])
    planned_steps.summary(job, changes)
    with st.container(horizontal=True):
        st.button(
            f"Save {changes}".strip(), type="primary", key="dead_save", disabled=not changes,
            on_click=job.start,
        )  # fmt: skip
        st.button("Back", key="dead_back", on_click=back)
    planned_steps.table(_repaired(job, describe, {}), "What each package would target")


def _result(job: RepairJob, describe: Describe, close: Action) -> None:
    saved = planned_steps.changes([one.effect for one in job.outcomes if not one.reason])
    planned_steps.verdict(job, f"{saved} saved" if saved else "Nothing saved")
    with st.container(horizontal=True):
        if st.button("Close", key="dead_close"):
            close()
            st.rerun()
        if job.left or any(one.reason for one in job.outcomes):
            st.button("Preview the rest again", key="dead_again", on_click=_again, args=(job,))
        if saved:
            undo.offer(job.record, close)
    planned_steps.table(_repaired(job, describe, planned_steps.results(job)), "The result of each change")


def _repaired(job: RepairJob, describe: Describe, found: Results) -> dict[str, list[str]]:
    """A row per package: what it loses, and what it targets afterwards."""
    shown = job.effects
    columns = {"Name": [one.name for one in shown]}
    if found:
        columns["Result"] = [became(one, found) for one in shown]
    columns["Removed"] = [job.removed.get(one.key, "") for one in shown]
    columns["Targets afterwards"] = [_afterwards(job, one, describe) for one in shown]
    return columns | {"Note": [note(one, found) for one in shown]}


def _afterwards(job: RepairJob, effect: Effect, describe: Describe) -> str:
    after = job.after.get(effect.key)
    return "" if after is None else words.sentence(after, None, describe(after))


def _again(job: RepairJob) -> None:
    """Read those again that were not saved. A callback."""
    job.begin(sorted(job.unsaved))
