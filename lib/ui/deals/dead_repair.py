"""The repair of dead targets on screen: what each package would target, the result, and undo."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from lib.deals.models import Targeting
from lib.insight.dead_targets import IncludedTarget
from lib.ui.deals import planned_steps
from lib.ui.deals.dead_job import SUPPLY, RepairJob, UndoJob
from lib.ui.deals.dead_list import DeadRow
from lib.ui.deals.planned_steps import Results, became, note
from lib.ui.deals.several_change import Effect
from lib.ui.frame.frame import Here
from lib.ui.targeting import words
from lib.ui.targeting.words import Described

Describe = Callable[[Targeting], Described]


@dataclass
class Repair:
    """A repair and, once it is wanted, its undo; `is_over` while only its undo is left to offer."""

    job: RepairJob
    undo: UndoJob | None = None
    is_over: bool = False


def begun(chosen: Sequence[DeadRow]) -> Repair:
    """The repair of these rows, whose packages are read next."""
    targets: dict[int, list[IncludedTarget]] = {}
    for row in chosen:
        targets.setdefault(row.package.id or 0, []).append(row.dead.included)
    job = RepairJob(targets, {row.package.id or 0: row.name for row in chosen})
    job.begin([(SUPPLY, one) for one in targets])
    return Repair(job)


def draw(here: Here, repair: Repair, describe: Describe) -> bool:
    """Draw the phase that it is in; whether the dialog is to be closed."""
    job = repair.undo or repair.job
    if job.phase in ("reading", "writing"):
        planned_steps.run(here, job, lambda: None)
        return False
    if job.phase == "preview":
        _preview(repair, describe)
        return False
    return _result(repair, describe)


def last(repair: Repair) -> None:
    """Offer the undo of the last repair."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Last repair: {_saved(repair)} changed.", width="content")
        st.button("Undo", icon=":material/undo:", key="dead_undo_last", on_click=_undo, args=(repair,))


def end(repair: Repair) -> None:
    """Send nothing more; what was put back is not offered again."""
    if repair.undo is not None:
        done = repair.undo.done
        repair.job.saved = {key: one for key, one in repair.job.saved.items() if key not in done}
    repair.undo, repair.is_over = None, True


def _preview(repair: Repair, describe: Describe) -> None:
    job = repair.job
    changes = planned_steps.changes([one for one in job.effects if one.is_change])
    planned_steps.summary(job, changes)
    planned_steps.table(_repaired(job, describe, {}), "What each package would target")
    with st.container(horizontal=True):
        st.button(
            f"Save {changes}".strip(), type="primary", key="dead_save", disabled=not changes,
            on_click=job.start,
        )  # fmt: skip
        st.button("Back", key="dead_back", on_click=_back, args=(repair,))


def _result(repair: Repair, describe: Describe) -> bool:
    """Draw the result; whether the dialog is to be closed."""
    job, is_undo = repair.undo or repair.job, repair.undo is not None
    saved = planned_steps.changes([one.effect for one in job.outcomes if not one.reason])
    done = "put back" if is_undo else "saved"
    planned_steps.verdict(job, f"{saved} {done}" if saved else f"Nothing {done}")
    found = planned_steps.results(job)
    shown = _undone(job.effects, found) if is_undo else _repaired(repair.job, describe, found)
    planned_steps.table(shown, "The result of each change")
    with st.container(horizontal=True):
        is_closed = st.button("Close", key="dead_close")
        if not is_undo and (job.left or any(one.reason for one in job.outcomes)):
            st.button("Preview the rest again", key="dead_again", on_click=_again, args=(repair.job,))
        if not is_undo and repair.job.saved:
            st.button("Undo", icon=":material/undo:", key="dead_undo", on_click=_undo, args=(repair,))
    return is_closed


def _repaired(job: RepairJob, describe: Describe, found: Results) -> dict[str, list[str]]:
    """A row per package: what it loses, and what it targets afterwards."""
    shown = job.effects
    columns = {"Name": [one.name for one in shown]}
    if found:
        columns["Result"] = [became(one, found) for one in shown]
    columns["Removed"] = [job.removed.get(one.key, "") for one in shown]
    columns["Targets afterwards"] = [_afterwards(job, one, describe) for one in shown]
    return columns | {"Note": [note(one, found) for one in shown]}


def _undone(effects: Sequence[Effect], found: Results) -> dict[str, list[str]]:
    return {
        "Name": [one.name for one in effects],
        "Result": [became(one, found) for one in effects],
        "Note": [note(one, found) for one in effects],
    }


def _afterwards(job: RepairJob, effect: Effect, describe: Describe) -> str:
    after = job.after.get(effect.key)
    return "" if after is None else words.sentence(after, None, describe(after))


def _saved(repair: Repair) -> str:
    return planned_steps.changes([*repair.job.saved.values()])


def _back(repair: Repair) -> None:
    """Back to the list. A callback."""
    end(repair)


def _again(job: RepairJob) -> None:
    """Read those again that were not saved. A callback."""
    job.begin(sorted(job.unsaved))


def _undo(repair: Repair) -> None:
    """Put back what is saved. A callback."""
    repair.undo, repair.is_over = UndoJob(repair.job.saved), False
    repair.undo.begin(repair.job.saved)
