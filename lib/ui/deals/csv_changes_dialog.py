"""The dialog that changes existing deals by a CSV: the file, its faults or a preview, and the result."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from lib.ui.deals import csv_text, facts, permission, planned_steps, prices, questions, undo
from lib.ui.deals.csv_changes import CHANGES, DEALS, LARGEST, MOST, PLAIN, SUPPLY, CsvChangeJob
from lib.ui.deals.csv_dialog import draw_faults, draw_file
from lib.ui.deals.csv_text import CsvFault
from lib.ui.deals.planned_steps import became, note
from lib.ui.deals.several_change import Effect
from lib.ui.deals.view import CSV_MENU
from lib.ui.kit import components
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

OPEN, FILE = "deals_csv_changes", "deals_csv_changes_file"
TITLE = "Change deals by CSV"
_OTHERS = ", ".join(f"**{plain(title)}**" for title in PLAIN if title != "Price")
WHAT = f"""Each line changes a deal that exists.

- **Deal id**, like TR-7K2Q-9FXA-4M1D
- Optional: **Price**, with a decimal point · **Status**: active or paused · **Start** and **End** of its
  package, like 2026-11-30 or 2026-11-30 09:00; *none* removes the end
- Optional: {_OTHERS}

An empty cell keeps what is there. Nothing is saved unless every line is right."""


@dataclass
class CsvChanges:
    """The dialog's contents: the file's name, the changes it asks for, and its faults."""

    name: str = ""
    job: CsvChangeJob | None = None
    faults: tuple[CsvFault, ...] = ()
    problem: str = ""


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may change deals, and the dialog while it is open."""
    does = permission.of(context)
    if entity != DEALS or does.why_not(DEALS, "change") or not does.is_own:
        return
    st.button(
        "Change deals", icon=":material/edit_note:", type="tertiary", key=f"{OPEN}_open", on_click=_open,
        help=f"Prices, status and dates of up to {MOST:,} deals",
    )  # fmt: skip
    if (changes := st.session_state.get(OPEN)) is not None:
        st.dialog(TITLE, width="large", on_dismiss=_close)(_dialog)(context, changes)


def _open() -> None:
    """Open the dialog. A callback."""
    st.session_state[OPEN] = CsvChanges()
    st.session_state[CSV_MENU] = False


def _close() -> None:
    """Close the dialog; what was not sent stays as it is. A callback."""
    st.session_state.pop(OPEN, None)


def _dialog(context: PageContext, changes: CsvChanges) -> None:
    job = changes.job
    with st.empty().container():
        if job is not None and job.phase in ("reading", "writing"):
            planned_steps.run(context, job, lambda: None)
        elif job is not None and job.phase == "done":
            _result(context, job)
        else:
            _form(context, changes)
            if job is not None and not job.faults:
                _preview(context, job)


def _form(context: PageContext, changes: CsvChanges) -> None:
    """Draw what the file must be, and what is wrong with the one that was chosen."""
    take_file = partial(take, context, changes)
    draw_file(FILE, CHANGES, WHAT, "deal-changes.csv", take_file, changes.problem)
    if faults := [*changes.faults, *(changes.job.faults if changes.job is not None else ())]:
        draw_faults(faults, changes.name, "Nothing was changed.")


def take(context: PageContext, changes: CsvChanges) -> None:
    """Read the file that was chosen. A callback."""
    chosen = components.chosen_file(st.session_state.get(FILE), LARGEST)
    if chosen is not None:
        changes.name, changes.job, changes.faults, changes.problem = chosen.name, None, (), chosen.problem
        if not chosen.problem:
            check(context, changes, chosen.text)


def check(context: PageContext, changes: CsvChanges, text: str) -> None:
    """Find out what the text asks for: its deals are read next, unless its lines can't be."""
    table = csv_text.read(text, CHANGES)
    changes.faults = table.faults
    if not table.faults:
        record = context.clients.bulk_actions.record("Changed by CSV")
        job = CsvChangeJob(
            record=record, lines=table.rows, no_dates=permission.of(context).why_not(SUPPLY, "change")
        )
        job.phase, changes.job = "reading", job


def _preview(context: PageContext, job: CsvChangeJob) -> None:
    changes = [one for one in job.effects if one.is_change]
    named = planned_steps.changes(changes)
    planned_steps.summary(job, named)
    refused = [one for one in job.effects if one.refused]
    if changes or refused:
        planned_steps.table(_table(context, [*refused, *changes], job), "What changes, before and after")
    planned_steps.others(changes)
    doubts = ", ".join(sorted({one.doubt for one in changes if one.doubt}))
    is_sure = questions.confirm(questions.with_unit(context, doubts), f"{OPEN}_")
    st.button(
        f"Save {named}".strip(), type="primary", key=f"{OPEN}_save",
        disabled=not changes or bool(refused) or not is_sure, on_click=job.start,
    )  # fmt: skip


def _result(context: PageContext, job: CsvChangeJob) -> None:
    saved = planned_steps.changes([one.effect for one in job.outcomes if not one.reason])
    planned_steps.verdict(job, f"{saved} saved" if saved else "Nothing saved")
    changes = [one for one in job.effects if one.is_change]
    planned_steps.table(_table(context, changes, job), "The result of each change")
    with st.container(horizontal=True):
        if st.button("Close", key=f"{OPEN}_close"):
            _close()
            st.rerun()
        if saved:
            undo.offer(job.record, _close)


def _table(context: PageContext, effects: list[Effect], job: CsvChangeJob) -> dict[str, list[str]]:
    """A row per entity with the cells that change, before → after."""
    names = list(dict.fromkeys(name for one in effects for name in one.after))
    results, money = planned_steps.results(job), prices.of(context)
    columns = {"Name": [one.name for one in effects]}
    if results or job.phase == "done":
        columns["Result"] = [became(one, results) for one in effects]
    for name in names:
        columns[facts.title(name, money)] = [_cell(one, name) for one in effects]
    columns[planned_steps.NOTE] = [note(one, results) for one in effects]
    return columns


def _cell(effect: Effect, name: str) -> str:
    """`2.50 → 2.75`; nothing where it stays."""
    if name not in effect.after:
        return ""
    return f"{facts.value(name, effect.before[name])} → {facts.value(name, effect.after[name])}"
