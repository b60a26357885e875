"""The dialog that creates deals or packages from a CSV: the file, its faults or a preview, the result."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.insight.kinds import KINDS as TARGETS
from lib.ui.deals import catalogue, csv_deals, csv_packages, csv_text, facts, questions
from lib.ui.deals.change_steps import number
from lib.ui.deals.csv_deals import CsvDeal, CsvPlan
from lib.ui.deals.csv_job import CsvJob, CsvReading
from lib.ui.deals.csv_packages import CsvPackage, DealCells
from lib.ui.deals.csv_text import CsvFault, CsvRow, CsvShape
from lib.ui.deals.draft import seat_name
from lib.ui.deals.facts import amount
from lib.ui.deals.questions import CsvQuestions
from lib.ui.deals.targeting import words
from lib.ui.deals.view import CSV_MENU
from lib.ui.kit import components, job, notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.straight import straighten

Entry = CsvDeal | CsvPackage
Table = dict[str, list[Any]]
OPEN, FILE, SHOWN = "{}_from_csv", "{}_csv_file", 1_000


@dataclass(frozen=True)
class CsvKind:
    """A kind of file. `key` begins the names of its widgets; `plan` finds out what its rows ask for.

    `entity` is that of the list; `what` says in Markdown how the file is written.
    """

    key: str
    entity: str
    called: str
    shape: CsvShape
    what: str
    plan: Callable[[PageContext, Sequence[CsvRow]], Iterator[CsvPlan]]
    table: Callable[[PageContext, Sequence[Entry]], Table]

    def counted(self, entities: Iterable[str]) -> str:
        """`3 deals`, `1 package and 2 deals`; what the file is of is counted even where there is none."""
        given = list(entities)
        counts = {kind: given.count(entity) for entity, kind in KINDS.items()}
        return " and ".join(
            f"{number(count)} {kind.called}{'' if count == 1 else 's'}"
            for kind, count in counts.items()
            if count or kind is self
        )


def draw_faults(faults: Sequence[CsvFault], name: str, outcome: str) -> None:
    """Draw what is wrong with a file, each with its line."""
    count = f"{number(len(faults))} fault{'' if len(faults) == 1 else 's'}"
    st.error(f"{count} in {plain(name)}. {outcome}", icon=":material/error:")
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


@dataclass
class CsvUpload:
    """The dialog's contents: the file's name, its faults, the reading of its lines, and the creation.

    `problem` says what went wrong.
    """

    kind: CsvKind
    name: str = ""
    faults: Sequence[CsvFault] = ()
    reading: CsvReading | None = None
    job: CsvJob | None = None
    problem: str = ""
    questions: CsvQuestions | None = None

    def finish(self, context: PageContext) -> None:
        """Take what the reading of the lines found."""
        reading, self.reading = self.reading, None
        if reading is None:
            return
        self.problem = reading.problem
        self.faults = sorted({*self.faults, *reading.plan.faults}, key=lambda one: one.line)
        if not self.problem and not self.faults and reading.plan.entries:
            self.questions = questions.of_lines(context, reading.plan.entries)
            self.job = CsvJob(reading.plan.entries)


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may create these entities, and the dialog while it is open."""
    kind = KINDS[entity]
    if catalogue.abilities(context).why_not(entity, "create"):
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
    kind, creation = upload.kind, upload.job
    with st.empty().container():
        if upload.reading is not None:
            job.draw(context, upload.reading, number, lambda: upload.finish(context))
        elif creation is not None and creation.is_running:
            job.draw(context, creation, number, lambda: _written(kind, creation))
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
    chosen = components.chosen_file(
        st.session_state.get(FILE.format(upload.kind.key)), upload.kind.shape.largest
    )
    if chosen is not None and (upload.job is None or upload.job.state not in ("open", "left")):
        upload.name, upload.job, upload.problem = chosen.name, None, chosen.problem
        upload.faults, upload.questions = (), None
        if not chosen.problem:
            check(context, upload, chosen.text)


def check(context: PageContext, upload: CsvUpload, text: str) -> None:
    """Begin to find out what the text asks for, and everything that is wrong with it."""
    table = csv_text.read(text, upload.kind.shape)
    upload.faults = table.faults
    if table.rows and len(table.rows) <= upload.kind.shape.most:
        upload.reading = CsvReading(upload.kind.plan(context, table.rows), len(table.rows))


def _preview(context: PageContext, upload: CsvUpload, creation: CsvJob) -> None:
    kind, entries = upload.kind, creation.entries
    _draw_failure(kind, creation)
    frame = straighten(kind.table(context, entries[:SHOWN]))  # type: ignore[arg-type]
    st.dataframe(frame, hide_index=True, alt=f"The {kind.called}s to create")
    if len(entries) > SHOWN:
        st.caption(f"The first {number(SHOWN)} of {number(len(entries))}.")
    if creation.state == "left":
        return
    is_sure = upload.questions is None or questions.draw_lines(upload.questions)
    count = kind.counted(one.request.entity for one in entries)
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
            "is unknown. Retry goes on there, and creates none twice.",
            icon=":material/warning:",
        )
    elif creation.state == "left":
        names = [f"{one.name} ({one.id})" for one in creation.made[:SHOWN]]
        there = ", ".join(names) or "none for certain"
        st.error(f"{plain(creation.reason)} These are created: {plain(there)}.", icon=":material/error:")


def _written(kind: CsvKind, creation: CsvJob) -> None:
    """Let the lists be read again, and say what was created."""
    catalogue.forget()
    if creation.state == "done":
        notes.say(f"{_count_label(kind, creation)} created")


def _count_label(kind: CsvKind, creation: CsvJob) -> str:
    return kind.counted(one.entity for one in creation.made)


def _draw_result(kind: CsvKind, creation: CsvJob) -> None:
    st.success(f"{plain(_count_label(kind, creation))} created.", icon=":material/check_circle:")
    ids = [str((isinstance(one, DemandDeal) and one.deal_id) or one.id) for one in creation.made]
    table = {"Name": [one.name for one in creation.made], "Deal id" if kind.key == "deals" else "Id": ids}
    st.dataframe(straighten(table), hide_index=True, alt=f"The {kind.called}s that were created")
    if st.button("Close", key=f"{kind.key}_csv_close"):
        _close(kind)
        st.rerun()


def _plan_deals(context: PageContext, rows: Sequence[CsvRow]) -> Iterator[CsvPlan]:
    fees = catalogue.abilities(context).fees
    return csv_deals.plan(context.deals, rows, catalogue.seats(context), fees)


def _plan_packages(context: PageContext, rows: Sequence[CsvRow]) -> Iterator[CsvPlan]:
    does = catalogue.abilities(context)
    deals = DealCells(catalogue.seats(context), does.fees, does.why_not(fields.DEALS, "create"))
    return csv_packages.plan(context.deals, rows, catalogue.named_lists(context), deals)


def _table_of_deals(context: PageContext, entries: Sequence[Entry]) -> Table:
    deals = [one for one in entries if isinstance(one, CsvDeal) and one.package is not None]
    return {
        "Line": [one.line for one in deals],
        "Package": [(one.package and one.package.name) or "" for one in deals],
        "Seat": [seat_name(one.seat, one.seat.id or 0) for one in deals],
        facts.prices_of(context).title: [amount(one.request.price) for one in deals],
        "Name": [one.request.name or "" for one in deals],
        "Note": [one.note for one in deals],
    }


def _table_of_packages(context: PageContext, entries: Sequence[Entry]) -> Table:
    packages = [one.request for one in entries if isinstance(one, CsvPackage)]
    marks = words.marks(context, catalogue.usual_days(context), map(_targeting, packages))
    price = facts.prices_of(context).title
    rows = [
        _row_of_deal(one, price) if isinstance(one, CsvDeal) else _row_of_package(one, marks)
        for one in entries
    ]
    titles = ["Line", "Kind", "Name", "Media type", "Runs", "Targeting", "Seat", price, "Note"]
    left_out = () if len(packages) < len(rows) else ("Kind", "Seat", price)
    return {title: [row.get(title, "") for row in rows] for title in titles if title not in left_out}


def _row_of_package(one: CsvPackage, marks: words.Marks) -> dict[str, Any]:
    package = one.request
    return {
        "Line": one.line,
        "Kind": "Package",
        "Name": package.name or "",
        "Media type": package.media_type or "",
        "Runs": facts.span(package),
        "Targeting": words.sentence(_targeting(package), None, None, marks),
        "Note": one.note,
    }


def _row_of_deal(one: CsvDeal, price: str) -> dict[str, Any]:
    return {
        "Line": one.line,
        "Kind": "Deal",
        "Name": one.request.name or "",
        "Seat": seat_name(one.seat, one.seat.id or 0),
        price: amount(one.request.price),
    }


def _targeting(package: SupplyPackage) -> Targeting:
    return Targeting.model_construct(**{name: getattr(package, name) for name in Targeting.model_fields})


def _titles(titles: Iterable[str]) -> str:
    return ", ".join(f"**{plain(title)}**" for title in titles)


_OPTIONAL = [title for title in csv_deals.SHAPE.optional if title != "Name"]
OF_DEALS = f"""Each line is a deal of a package that exists.

- **Package**: its id or its name · **Seat**: its id, its name, or its id at the DSP · **Price**,
  with a decimal point
- Optional: **Name** (else package and seat), {_titles(_OPTIONAL)}; yes or no for what is switched

Nothing is created unless every line is right."""
_SWITCHED = [one.column for one in csv_packages.FIELDS if one.kind is fields.SWITCH]
OF_PACKAGES = f"""Each line is a package, with a deal if it has a seat; further lines of its name add deals.

- **Name** · **Media type** · **Start**, like 2026-11-30 or 2026-11-30 09:00
- Optional: **End**, **Time zone** (like +01:00; else UTC), {_titles(_SWITCHED)} (yes or no)
- Optional targeting: {_titles(kind.title for kind in TARGETS)}; several values with |
  between them, and *not* before one that is excluded: US|CA, or not Safari. A list by its id or its name
- Optional deal: {_titles(csv_packages.OF_DEALS)}; the price has a decimal point

Nothing is created unless every line is right."""
KINDS = {
    fields.SUPPLY: CsvKind(
        "packages", fields.SUPPLY, "package", csv_packages.SHAPE, OF_PACKAGES, _plan_packages,
        _table_of_packages,
    ),
    fields.DEALS: CsvKind(
        "deals", fields.DEALS, "deal", csv_deals.SHAPE, OF_DEALS, _plan_deals, _table_of_deals
    ),
}  # fmt: skip
"""The kinds of files by the entity of the list."""
