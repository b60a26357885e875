"""The dialog that creates deals or packages from a CSV, all or none: faults or a preview, then the result.

Creating the deals or packages of a CSV: all of them, or none.

The API creates them one by one, a package before its deals. So what was created is deleted again if a later
one is refused; if a request is left without an answer, the same file goes on with the same keys, so that
nothing is created twice.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol

import streamlit as st

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals import catalogue, csv_questions, csv_text, permission
from lib.ui.deals.csv_kinds import KINDS, WHAT, CsvKind, Wanted
from lib.ui.deals.csv_questions import CsvQuestions
from lib.ui.deals.csv_text import CsvFault
from lib.ui.deals.view import CSV_MENU
from lib.ui.kit import components, notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import is_open
from lib.ui.kit.straight import straightened
from lib.wire.errors import NotFound, TrancheError

State = Literal["ready", "done", "undone", "open", "left"]


class CsvWanted(Protocol):
    """What a line asks for."""

    @property
    def line(self) -> int:
        """The line that it begins in."""
        ...

    @property
    def request(self) -> DemandDeal | SupplyPackage:
        """What is created."""
        ...

    def sent(self, packages: Mapping[int, int]) -> DemandDeal | SupplyPackage:
        """What is sent, once these packages were created: line → id."""
        ...


@dataclass
class CsvJob:
    """The creation as far as it has come.

    `state`: nothing is created (`ready`, `undone`), all are (`done`), it is unknown of one and can go on
    (`open`), or some are there that could not be deleted again (`left`); `reason` says why.
    """

    wanted: Sequence[CsvWanted]
    state: State = "ready"
    reason: str = ""
    made: list[DemandDeal | SupplyPackage] = field(default_factory=list)
    key: str = field(default_factory=lambda: str(uuid.uuid4()))

    def run(self, client: Deals) -> None:
        """Create those that are not there yet. It never touches the screen, so that no run breaks it off."""
        if self.state in ("done", "left"):
            return
        for one in self.wanted[len(self.made) :]:
            try:
                request = one.sent(self._packages())
                made = client.create(request.entity, request, f"{self.key}-{request.entity}-{one.line}")
                self.made.append(made)
            except TrancheError as error:
                self.reason = f"Line {one.line}: {error.reason.rstrip('.')}."
                if not is_open(error):
                    self._undo(client)
                elif client.abilities.repeats:
                    self.state = "open"
                else:
                    self.state = "left"
                    self.reason += " It may have been created; the lines after it were not sent."
                return
        self.state, self.reason = "done", ""

    def _packages(self) -> dict[int, int]:
        """The ids of the packages that were created, by their lines."""
        pairs = zip(self.wanted, self.made, strict=False)
        return {one.line: made.id for one, made in pairs if isinstance(made, SupplyPackage) and made.id}

    def _undo(self, client: Deals) -> None:
        """Delete what was created, the last first; a next try starts over, with a key of its own."""
        while self.made:
            try:
                with suppress(NotFound):  # somebody else deleted it
                    client.remove(self.made[-1].entity, self.made[-1].id or 0)
            except TrancheError as error:
                self.state = "left"
                self.reason += f" What was created before could not be deleted: {error.reason.rstrip('.')}."
                return
            self.made.pop()
        self.state, self.key = "undone", str(uuid.uuid4())


OPEN, FILE = "{}_from_csv", "{}_csv_file"


@dataclass
class CsvUpload:
    """The dialog's contents: the file's name, what its text asks for, its faults, and the creation.

    `problem` says what went wrong.
    """

    kind: CsvKind
    name: str = ""
    wanted: Wanted = ()
    faults: Sequence[CsvFault] = field(default_factory=tuple)
    job: CsvJob | None = None
    problem: str = ""
    questions: CsvQuestions | None = None


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may create these entities, and the dialog while it is open."""
    kind = KINDS[entity]
    if permission.of(context).why_not(entity, "create"):
        return
    st.button(
        f"Create {plain(kind.called)}s", icon=":material/upload:", type="tertiary",
        key=f"{kind.key}_from_csv_open", on_click=_open, args=(kind,),
    )  # fmt: skip
    if (upload := st.session_state.get(OPEN.format(kind.key))) is not None:
        title = f"Create {plain(kind.called)}s from a CSV"
        st.dialog(title, width="large", on_dismiss=lambda: _close(kind))(_dialog)(context, upload)


def _open(kind: CsvKind) -> None:
    st.session_state[OPEN.format(kind.key)] = CsvUpload(kind)
    st.session_state[CSV_MENU] = False


def _close(kind: CsvKind) -> None:
    """Close the dialog. A callback."""
    st.session_state.pop(OPEN.format(kind.key), None)


def _dialog(context: PageContext, upload: CsvUpload) -> None:
    kind = upload.kind
    with st.empty().container():
        if upload.job is not None and upload.job.state == "done":
            _done(kind, upload.job)
            return
        st.markdown(WHAT[kind.key])
        st.caption(f"UTF-8; commas, semicolons or tabs; at most {csv_text.MOST_ROWS} lines.")
        file = FILE.format(kind.key)
        components.draw(file, "CSV file", ".csv,text/csv", csv_text.LARGEST, lambda: take(context, upload))
        st.download_button(
            "Template", csv_text.template(kind.shape), f"{kind.key}.csv", "text/csv",
            icon=":material/download:", type="tertiary", key=f"{kind.key}_csv_template", on_click="ignore",
        )  # fmt: skip
        if upload.problem:
            st.error(plain(upload.problem), icon=":material/error:")
        if upload.faults:
            _faults(upload)
        elif upload.job is not None:
            st.caption(f"From {plain(upload.name)}")
            _preview(context, upload, upload.job)


def take(context: PageContext, upload: CsvUpload) -> None:
    """Read the file that was chosen. A callback."""
    chosen = components.taken(st.session_state.get(FILE.format(upload.kind.key)), csv_text.LARGEST)
    if chosen is not None and (upload.job is None or upload.job.state not in ("open", "left")):
        upload.name, upload.job, upload.problem = chosen.name, None, chosen.problem
        upload.wanted, upload.faults, upload.questions = (), (), None
        if not chosen.problem:
            check(context, upload, chosen.text)


def check(context: PageContext, upload: CsvUpload, text: str) -> None:
    """Find out what the text asks for, and everything that is wrong with it."""
    table = csv_text.read(text, upload.kind.shape)
    upload.faults = table.faults
    try:
        if table.rows and len(table.rows) <= csv_text.MOST_ROWS:
            wanted, faults = upload.kind.plan(context, table.rows)
            upload.faults = sorted({*table.faults, *faults}, key=lambda one: one.line)
            upload.wanted = () if upload.faults else wanted
    except TrancheError as error:
        upload.faults, upload.problem = (), f"{error.reason.rstrip('.')}. Nothing was created."
        return
    if upload.wanted:
        upload.job = CsvJob(upload.wanted)


def _faults(upload: CsvUpload) -> None:
    faults = upload.faults
    count = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}"
    st.error(f"{count} in {plain(upload.name)}. Nothing was created.", icon=":material/error:")
    table = {"Line": [one.line for one in faults], "Fault": [one.text for one in faults]}
    st.dataframe(straightened(table), hide_index=True, alt="The faults, each with its line")


def _preview(context: PageContext, upload: CsvUpload, job: CsvJob) -> None:
    kind = upload.kind
    _failed(kind, job)
    frame = straightened(kind.table(context, upload.wanted))
    st.dataframe(frame, hide_index=True, alt=f"The {kind.called}s to create")
    if job.state == "left":
        return
    asked = [one.request for one in upload.wanted]
    if upload.questions is None:
        upload.questions = csv_questions.of(context, upload.wanted)
    is_sure = csv_questions.draw(upload.questions)
    label = "Retry" if job.state == "open" else f"Create {plain(_counted(kind, asked))}"
    st.button(
        label, type="primary", key=f"{kind.key}_csv_create", disabled=not is_sure, on_click=create,
        args=(context, kind, job),
    )  # fmt: skip


def _failed(kind: CsvKind, job: CsvJob) -> None:
    """Draw why it did not succeed, and what there is now."""
    if job.state == "undone":
        st.error(f"{plain(job.reason)} Nothing was created.", icon=":material/error:")
    elif job.state == "open":
        st.warning(
            f"{plain(job.reason)} {plain(_counted(kind, job.made))} created; whether this one was is "
            "unknown. Retry goes on there, and creates none twice.",
            icon=":material/warning:",
        )
    elif job.state == "left":
        there = ", ".join(f"{one.name} ({one.id})" for one in job.made) or "none for certain"
        st.error(f"{plain(job.reason)} These are created: {plain(there)}.", icon=":material/error:")


def create(context: PageContext, kind: CsvKind, job: CsvJob) -> None:
    """Create all of them, or none. A callback."""
    job.run(catalogue.client(context))
    catalogue.forget()
    if job.state == "done":
        notes.say(f"{_counted(kind, job.made)} created")


def _counted(kind: CsvKind, ones: Iterable[DemandDeal | SupplyPackage]) -> str:
    return kind.counted(one.entity for one in ones)


def _done(kind: CsvKind, job: CsvJob) -> None:
    st.success(f"{plain(_counted(kind, job.made))} created.", icon=":material/check_circle:")
    ids = [str((isinstance(one, DemandDeal) and one.deal_id) or one.id) for one in job.made]
    table = {"Name": [one.name for one in job.made], "Deal id" if kind.key == "deals" else "Id": ids}
    st.dataframe(straightened(table), hide_index=True, alt=f"The {kind.called}s that were created")
    if st.button("Close", key=f"{kind.key}_csv_close"):
        _close(kind)
        st.rerun()
