"""The dialogs of CSV files: what a file must be, its faults, a preview, and the deals or packages created."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.kinds import KINDS as TARGETS
from lib.ui.deals import catalog, facts
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.confirmations import targeting_of
from lib.ui.deals.changes.plan_steps import close_button, count_label, number
from lib.ui.deals.csv import csv_cells, csv_deals, csv_packages, csv_text
from lib.ui.deals.csv.csv_deals import CsvEntry, CsvPlan
from lib.ui.deals.csv.csv_job import CsvJob, CsvReading
from lib.ui.deals.csv.csv_packages import DealCells
from lib.ui.deals.csv.csv_text import CsvFault, CsvRow, CsvShape
from lib.ui.deals.list.deal_rows import KINDS as ENTITY_WORDS
from lib.ui.deals.list.list_state import CSV_MENU
from lib.ui.deals.targeting import words
from lib.ui.kit import components, job, notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten

OPEN, FILE, MOST_ROWS = "{}_from_csv", "{}_csv_file", 1_000
_OPTIONAL = [title for title in csv_deals.SHAPE.optional if title != "Name"]
_SWITCHES = [one.column for one in csv_packages.FIELDS if one.kind is fields.SWITCH]


@dataclass(frozen=True)
class CsvKind:
    """A kind of file. `key` begins the names of its widgets; `plan` finds out what its rows ask for.

    `what` says in Markdown how the file is written.
    """

    key: str
    noun: str
    shape: CsvShape
    what: str
    plan: Callable[[PageContext, Sequence[CsvRow]], Iterator[CsvPlan]]

    def count_label(self, entities: Iterable[str]) -> str:
        """`3 deals`, `1 package and 2 deals`; what the file is of is counted even where there is none."""
        several = list(entities)
        counts = {kind: several.count(entity) for entity, kind in KINDS.items()}
        return " and ".join(
            count_label(kind.noun, count) for kind, count in counts.items() if count or kind is self
        )


@dataclass
class CsvUpload:
    """The dialog's contents: the file's name, its faults, the reading of its lines, and the creation.

    `problem` says what went wrong; `titles` are the columns of the file, `questions` what is to be confirmed
    of each entry.
    """

    kind: CsvKind
    name: str = ""
    faults: Sequence[CsvFault] = ()
    reading: CsvReading | None = None
    job: CsvJob | None = None
    problem: str = ""
    titles: Sequence[str] = ()
    questions: Sequence[Sequence[str]] = ()

    def finish(self, context: PageContext) -> None:
        """Take what the reading of the lines found."""
        reading, self.reading = self.reading, None
        if reading is None:
            return
        self.problem = f"{reading.problem} Nothing was created." if reading.problem else ""
        self.faults = sorted({*self.faults, *reading.plan.faults}, key=lambda one: one.line)
        if not self.problem and not self.faults and reading.plan.entries:
            self.titles = reading.plan.titles
            self.questions = confirmations.of_entries(context, reading.plan.entries)
            self.job = CsvJob(reading.plan.entries)


def draw_button(label: str, icon: str, key: str, upload: Callable[[], Any], help_: str | None = None) -> None:
    """Draw a button of the menu that opens the dialog of a file."""

    def open_() -> None:
        st.session_state[key] = upload()
        st.session_state[CSV_MENU] = False

    st.button(
        label, icon=f":material/{icon}:", type="tertiary", key=f"{key}_open", on_click=open_, help=help_
    )


def close(key: str) -> None:
    """Close the dialog; what was not sent stays as it is. A callback."""
    st.session_state.pop(key, None)


def draw_faults(faults: Sequence[CsvFault], name: str, outcome: str) -> None:
    """Draw what is wrong with a file, each with its line."""
    st.error(f"{count_label('fault', len(faults))} in {plain(name)}. {outcome}", icon=":material/error:")
    table = {"Line": [one.line for one in faults], "Fault": [one.text for one in faults]}
    st.dataframe(straighten(table), hide_index=True, alt="The faults, each with its line")


def draw_file(
    key: str, shape: CsvShape, what: str, template: str, on_file: Callable[[], None], problem: str
) -> None:
    """Draw how a file is written, the field for it, a template, and why the last one was not taken."""
    st.markdown(what)
    st.caption(f"UTF-8; commas, semicolons or tabs; at most {number(shape.most)} lines.")
    components.draw(key, "CSV file", ".csv,text/csv", shape.largest, on_file)
    st.download_button(
        "Template", csv_text.template(shape), template, "text/csv", icon=":material/download:",
        type="tertiary", key=f"{key}_template", on_click="ignore",
    )  # fmt: skip
    if problem:
        st.error(plain(problem), icon=":material/error:")


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may create these entities, and the dialog while it is open."""
    kind = KINDS[entity]
    if catalog.abilities(context).why_not(entity, "create"):
        return
    key = OPEN.format(kind.key)
    draw_button(f"Create {kind.noun}s", "upload", key, lambda: CsvUpload(kind))
    if (upload := st.session_state.get(key)) is not None:
        title = f"Create {kind.noun}s from a CSV"
        st.dialog(title, width="large", on_dismiss=lambda: close(key))(_dialog)(context, upload)


def _dialog(context: PageContext, upload: CsvUpload) -> None:
    kind, creation = upload.kind, upload.job
    with st.empty().container():
        if upload.reading is not None:
            job.draw(context, upload.reading, number, lambda: upload.finish(context))
        elif creation is not None and creation.is_running:
            job.draw(context, creation, number, lambda: _announce(kind, creation))
        elif creation is not None and creation.state == "done":
            _draw_result(kind, creation)
        else:
            draw_file(
                FILE.format(kind.key), kind.shape, kind.what, f"{kind.key}.csv",
                lambda: take(context, upload), upload.problem,
            )  # fmt: skip
            if upload.faults:
                draw_faults(upload.faults, upload.name, "Nothing was created.")
            elif creation is not None:
                st.caption(f"From {plain(upload.name)}")
                _preview(context, upload, creation)


def take(context: PageContext, upload: CsvUpload) -> None:
    """Read the file that was chosen. A callback."""
    file = components.chosen_file(
        st.session_state.get(FILE.format(upload.kind.key)), upload.kind.shape.largest
    )
    if file is not None and (upload.job is None or upload.job.state not in ("open", "left")):
        upload.name, upload.job, upload.problem = file.name, None, file.problem
        upload.faults, upload.questions = (), ()
        if not file.problem:
            check(context, upload, file.text)


def check(context: PageContext, upload: CsvUpload, text: str) -> None:
    """Begin to find out what the text asks for, and everything that is wrong with it."""
    table = csv_text.read(text, upload.kind.shape)
    upload.faults = table.faults
    if table.rows and len(table.rows) <= upload.kind.shape.most:
        upload.reading = CsvReading(upload.kind.plan(context, table.rows), len(table.rows))


def _preview(context: PageContext, upload: CsvUpload, creation: CsvJob) -> None:
    kind, entries = upload.kind, creation.entries
    _draw_failure(kind, creation)
    frame = straighten(_table(context, upload, entries[:MOST_ROWS]))
    st.dataframe(
        frame, hide_index=True, alt=f"The {kind.noun}s to create",
        column_config=dict.fromkeys(
            filter(facts.is_figure, frame.columns), st.column_config.TextColumn(alignment="right")
        ),
    )  # fmt: skip
    if len(entries) > MOST_ROWS:
        st.caption(f"The first {number(MOST_ROWS)} of {number(len(entries))}.")
    if creation.state == "left":
        return
    if notes_of_lines := [f"Line {entry.line}: {entry.note}" for entry in entries if entry.note]:
        st.info(confirmations.list_sentences(notes_of_lines), icon=":material/info:")
    sentences = [
        f"Line {entry.line}: {sentence}."
        for entry, questions in zip(entries, upload.questions, strict=False)
        for sentence in questions
    ]
    is_sure = confirmations.confirm_all(sentences, f"{kind.key}_csv_")
    count = kind.count_label(one.request.entity for one in entries)
    st.button(
        "Retry" if creation.state == "open" else f"Create {plain(count)}", type="primary",
        key=f"{kind.key}_csv_create", disabled=not is_sure, on_click=creation.start,
    )  # fmt: skip


def _draw_failure(kind: CsvKind, creation: CsvJob) -> None:
    """Draw why it did not succeed, and what there is now."""
    if creation.state == "undone":
        st.error(f"{plain(creation.reason)} Nothing was created.", icon=":material/error:")
    elif creation.state == "open":
        st.warning(
            f"{plain(creation.reason)} {plain(_count_label(kind, creation))} created; whether this one was "
            "is unknown. Retry to continue: nothing is created twice.",
            icon=":material/warning:",
        )
    elif creation.state == "left":
        names = [f"{one.name} ({one.id})" for one in creation.entities[:MOST_ROWS]]
        names_text = ", ".join(names) or "none for certain"
        st.error(f"{plain(creation.reason)} These are created: {plain(names_text)}.", icon=":material/error:")


def _announce(kind: CsvKind, creation: CsvJob) -> None:
    """Let the lists be read again, and say what was created."""
    catalog.forget()
    if creation.state == "done":
        notes.say(f"{_count_label(kind, creation)} created")


def _count_label(kind: CsvKind, creation: CsvJob) -> str:
    return kind.count_label(one.entity for one in creation.entities)


def _draw_result(kind: CsvKind, creation: CsvJob) -> None:
    st.success(f"{plain(_count_label(kind, creation))} created.", icon=":material/check_circle:")
    ids = [str((isinstance(one, DemandDeal) and one.deal_id) or one.id) for one in creation.entities]
    table = {"Name": [one.name for one in creation.entities], "Deal id" if kind.key == "deals" else "Id": ids}
    st.dataframe(straighten(table), hide_index=True, alt=f"The {kind.noun}s that were created")
    close_button(f"{kind.key}_csv_", lambda: close(OPEN.format(kind.key)))


def _plan_deals(context: PageContext, rows: Sequence[CsvRow]) -> Iterator[CsvPlan]:
    fees = catalog.abilities(context).fees
    return csv_deals.plan(context.deals, rows, catalog.seats(context), fees)


def _plan_packages(context: PageContext, rows: Sequence[CsvRow]) -> Iterator[CsvPlan]:
    does = catalog.abilities(context)
    deals = DealCells(catalog.seats(context), does.fees, does.why_not(fields.DEALS, "create"))
    return csv_packages.plan(context.deals, rows, catalog.named_lists(context), deals)


def _table(context: PageContext, upload: CsvUpload, entries: Sequence[CsvEntry]) -> dict[str, list[Any]]:
    """What is created, a row each: every column that the file has, with what it becomes.

    What is to be confirmed of a row is its note. A name stands in the first column, given or made.
    """
    packages = [targeting_of(entry.request) for entry in entries if isinstance(entry.request, SupplyPackage)]
    marks = words.marks(context, catalog.usual_days(context), packages) if packages else {}
    columns: dict[str, list[Any]] = {"Line": [entry.line for entry in entries]}
    if 0 < len(packages) < len(entries):
        columns["Kind"] = [ENTITY_WORDS[entry.request.entity] for entry in entries]
    columns["Name"] = [entry.request.name or "" for entry in entries]
    price, unit = fields.BY_NAME["price"].column, facts.prices_of(context).title
    for title in upload.titles:
        if title not in columns:
            column = unit if title == price else title
            columns[column] = [csv_cells.cell(entry, title, marks) for entry in entries]
    questions_of_rows = upload.questions or [()] * len(entries)
    columns["Note"] = [
        ". ".join(filter(None, [*(f"Please check: {sentence}" for sentence in questions), entry.note]))
        for entry, questions in zip(entries, questions_of_rows, strict=False)
    ]
    return columns


def _titles(titles: Iterable[str]) -> str:
    return ", ".join(f"**{plain(title)}**" for title in titles)


OF_DEALS = f"""Each line is a deal of a package that exists.

- **Package**: its id or its name · **Seat**: its id, its name, or its id at the DSP · **Price**,
  with a decimal point
- Optional: **Name** (else package and seat), {_titles(_OPTIONAL)}; yes or no for what is switched

Nothing is created unless every line is right."""
OF_PACKAGES = f"""Each line is a package, with a deal if it has a seat; further lines of its name add deals.

- **Name** · **Media type** · **Start**, like 2026-11-30 or 2026-11-30 09:00
- Optional: **End**, **Time zone** (like +01:00; else UTC), {_titles(_SWITCHES)} (yes or no)
- Optional targeting: {_titles(kind.title for kind in TARGETS)}; several values with |
  between them, and *not* before one that is excluded: US|CA, or not Safari. A list by its id or its name
- Optional deal: {_titles(csv_packages.OF_DEALS)}; the price has a decimal point

Nothing is created unless every line is right."""
KINDS = {
    fields.SUPPLY: CsvKind(
        "packages", "package", csv_packages.SHAPE, OF_PACKAGES, _plan_packages,
    ),
    fields.DEALS: CsvKind(
        "deals", "deal", csv_deals.SHAPE, OF_DEALS, _plan_deals,
    ),
}  # fmt: skip
"""The kinds of files by the entity of the list."""
