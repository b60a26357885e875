"""The dialogs of CSV files: what a file must be, its faults, and the plan of what its lines ask for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from lib.ui.deals.changes.plan import ChangePlan
from lib.ui.deals.changes.plan_steps import PlanSteps, step_container
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.list_state import CSV_MENU
from lib.ui.kit import downloads, text_file
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.wire import csv_text
from lib.wire.csv_text import CsvFault, CsvRow, CsvShape


@dataclass(frozen=True)
class CsvKind:
    """A kind of file. `key` begins the names of its widgets, and is where its dialog is kept.

    `template` is the name of an empty file, `what` says in Markdown how it is written, `outcome` what became
    of one with faults. `begin` makes the plan of its rows, whose source has `faults`; `steps` says how that
    is drawn, given how to close it.
    """

    key: str
    title: str
    template: str
    shape: CsvShape
    what: str
    outcome: str
    begin: Callable[[PageContext, Sequence[CsvRow]], ChangePlan[Any]]
    steps: Callable[[PageContext, ChangePlan[Any], str, Callable[[], None]], PlanSteps]

    @property
    def file_key(self) -> str:
        return f"{self.key}_file"

    def close(self) -> None:
        """Close the dialog; what was not sent stays as it is. A callback."""
        close(self.key)


@dataclass
class CsvUpload:
    """The dialog's contents: the file's name, why it was not taken, its faults, the plan of its lines, and
    notes on how it was read."""

    name: str = ""
    problem: str = ""
    faults: Sequence[CsvFault] = ()
    plan: ChangePlan[Any] | None = None
    notes: Sequence[str] = ()

    @property
    def all_faults(self) -> list[CsvFault]:
        """Those of the text and those of its lines, in their order."""
        of_lines = self.plan.source.faults if self.plan is not None else ()
        return sorted({*self.faults, *of_lines}, key=lambda fault: fault.line)


def close(key: str) -> None:
    """Close the dialog that is kept under this key. A callback."""
    st.session_state.pop(key, None)


def draw(context: PageContext, kind: CsvKind, label: str, icon: str, help_: str | None = None) -> None:
    """Draw the button of the menu that opens the dialog, and the dialog while it is open."""

    def open_() -> None:
        st.session_state[kind.key] = CsvUpload()
        st.session_state[CSV_MENU] = False  # an open popover lies over a dialog, and takes its clicks

    st.button(
        label, icon=f":material/{icon}:", type="tertiary", key=f"{kind.key}_open", on_click=open_, help=help_
    )
    if (upload := st.session_state.get(kind.key)) is not None:
        st.dialog(kind.title, width="large", on_dismiss=kind.close)(_dialog)(context, kind, upload)


def _dialog(context: PageContext, kind: CsvKind, upload: CsvUpload) -> None:
    plan = upload.plan
    with step_container():
        if plan is None or (plan.phase == "preview" and not plan.outcomes):
            shape = kind.shape
            st.markdown(kind.what)
            st.caption(f"Commas, semicolons or tabs between the cells; at most {number(shape.most)} lines.")
            on_file = partial(take, context, kind, upload)
            text_file.draw(kind.file_key, "CSV file", ".csv,text/csv", shape.largest, on_file)
            downloads.offer(
                context, "Template", lambda _: csv_text.template(shape), kind.template, "text/csv",
                f"{kind.key}_template", kind="tertiary",
            )  # fmt: skip
            # The field forgets its file as soon as that is read, so that the same one can be chosen again.
            if upload.plan is not None and not upload.all_faults:
                st.caption(f":material/draft: {plain(upload.name)}")
            for note in upload.notes:
                st.caption(f":material/info: {plain(note)}")
            if upload.problem:
                st.error(plain(upload.problem), icon=":material/error:")
            if faults := upload.all_faults:
                count = count_label("fault", len(faults))
                st.error(f"{count} in {plain(upload.name)}. {kind.outcome}", icon=":material/error:")
                table = {"Line": [fault.line for fault in faults], "Fault": [fault.text for fault in faults]}
                st.dataframe(straighten(table), hide_index=True, alt="The faults, each with its line")
        if plan is not None and (plan.is_running or not upload.all_faults):
            kind.steps(context, plan, f"{kind.key}_", kind.close).draw(context, plan)


def take(context: PageContext, kind: CsvKind, upload: CsvUpload) -> None:
    """Read the file that was chosen. A callback."""
    file = text_file.chosen_file(st.session_state.get(kind.file_key), kind.shape.largest)
    if file is None or (upload.plan is not None and upload.plan.outcomes):
        return
    upload.name, upload.problem, upload.faults, upload.plan = file.name, file.problem, (), None
    upload.notes = ()
    if file.problem:
        return
    table = csv_text.read(file.text, kind.shape)
    upload.faults = table.faults
    encodings = [f"The text was read as {file.encoding}."] if file.encoding else []
    upload.notes = (*encodings, *table.notes)
    if table.rows and len(table.rows) <= kind.shape.most:
        upload.plan = kind.begin(context, table.rows)
