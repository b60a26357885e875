"""Changing existing deals by a CSV: plain fields, status, and the dates of their packages.

All lines are read and checked before anything can be sent. What is sent goes in batches, each all or none,
and only if nobody has changed these deals and packages since they were read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from typing import Any, ClassVar

import streamlit as st

from lib.deals import fields
from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import NO_FEE, DemandDeal, PackageOrDeal, SupplyPackage, guarantee_fault
from lib.ui.deals import catalog
from lib.ui.deals.changes.change_job import ChangeJob, Effect, Outcome, with_full_stop
from lib.ui.deals.changes.change_steps import ChangeSteps, field_columns
from lib.ui.deals.changes.edit_several import END, START, own_zone, with_dates
from lib.ui.deals.csv import csv_text
from lib.ui.deals.csv.csv_deals import COLUMNS
from lib.ui.deals.csv.csv_dialog import close, draw_button, draw_faults, draw_file
from lib.ui.deals.csv.csv_text import CsvFault, CsvRow, CsvShape
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.inputs import EMAIL, FEE, FEE_TYPE
from lib.ui.deals.list.deal_rows import KINDS, Key, title_of
from lib.ui.kit import components, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

MOST, LARGEST, NO_END = 5_000, 600_000, "none"
PLAIN = {title: one for title, one in COLUMNS.items() if one.name != "is_active"}
"""The columns of plain fields; that of is_active is Status."""
FIRST = ("Price", "Status", "Start", "End")
CHANGES = CsvShape(
    "deals", ("Deal id",), (*FIRST, *(title for title in PLAIN if title not in FIRST)), MOST, LARGEST
)
DATES = {"Start": START, "End": END}
ACTIVE = {"active": True, "paused": False}
OPEN, FILE = "deals_csv_changes", "deals_csv_changes_file"
TITLE = "Change deals by CSV"
_OTHERS = ", ".join(f"**{plain(title)}**" for title in PLAIN if title != "Price")
WHAT = f"""Each line changes a deal that exists.

- **Deal id**, like TR-7K2Q-9FXA-4M1D
- Optional: **Price**, with a decimal point · **Status**: active or paused · **Start** and **End** of its
  package, like 2026-11-30 or 2026-11-30 09:00; *none* removes the end
- Optional: {_OTHERS}

An empty cell keeps what is there. Nothing is saved unless every line is right."""


@dataclass(kw_only=True)
class CsvChangeJob(ChangeJob):
    """The changes of a file as far as they have come; `faults` are all that is wrong with its lines.

    `no_dates` is why packages can't be changed; empty if they can. `deals` are those read by deal id, None
    where there is none, `packages` those whose dates change by id.
    """

    batch_size: ClassVar[int] = 200
    stops_at_refusal: ClassVar[bool] = True
    lines: Sequence[CsvRow]
    no_dates: str = ""
    faults: list[CsvFault] = field(default_factory=list)
    deals: dict[str, DemandDeal | None] = field(default_factory=dict)
    packages: dict[int, SupplyPackage] = field(default_factory=dict)

    def plan(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Remember an entity that was read."""
        if isinstance(entity, SupplyPackage):
            self.packages[key[1]] = entity
        else:
            self.deals[entity.deal_id or ""] = entity

    def name(self, key: Key) -> str:
        """What it is called."""
        return f"{KINDS[key[0]]} {key[1]}"

    def read(self, client: Deals) -> None:
        """Read some more; with the last ones the lines are checked. Where that fails it is a fault."""
        try:
            if ids := [one for one in self._deal_ids() if one not in self.deals][: self.batch_size]:
                self.deals |= dict.fromkeys(ids)
                self._read(client, DemandDeal, deal_id=ids)
            elif part := [one for one in self._package_ids() if one not in self.packages][: self.batch_size]:
                self._read(client, SupplyPackage, id=part)
            else:
                self._check()
                self.phase = "preview"
        except TrancheError as error:
            self.faults = [CsvFault(1, f"The deals can't be read now: {with_full_stop(error.reason)}")]
            self.phase = "preview"

    def send(self, client: Deals, effects: Sequence[Effect]) -> Iterator[Outcome]:
        """Send a batch, all or none."""
        try:
            changes = {one.key[1]: one.after for one in effects}
            etags = {one.key[1]: one.etag or "" for one in effects}
            reasons = client.change_all(effects[0].key[0], changes, etags)
        except TrancheError as error:
            yield from (Outcome.of(one, error) for one in effects)
        else:
            for one in effects:
                reason = reasons.get(one.key[1], "")
                yield Outcome(one, reason and with_full_stop(reason))

    @property
    def progress(self) -> tuple[int, int]:
        """How many deals are read, or how many changes sent, of how many."""
        return (len(self.deals), len(self._deal_ids())) if self.phase == "reading" else super().progress

    def _read(self, client: Deals, model: type[PackageOrDeal], **params: Any) -> None:
        for one in client.list(model, limit=LARGEST_PAGE, etags=True, **params).results:
            self.plan(one, (model.entity, one.id or 0), frozenset())

    def _deal_ids(self) -> dict[str, None]:
        return dict.fromkeys(row["Deal id"] for row in self.lines if row["Deal id"])

    def _package_ids(self) -> Iterator[int]:
        """The packages whose dates a line changes: a deal's only one."""
        for row in self.lines:
            deal = self.deals.get(row["Deal id"])
            if deal is not None and len(deal.supply_deals) == 1 and any(row[title] for title in DATES):
                yield deal.supply_deals[0].id or 0

    def _check(self) -> None:
        """Find what the lines change, or everything that is wrong with them."""
        first: dict[str, int] = {}
        plan = _Plan(self.packages, self.no_dates)
        for row in self.lines:
            name = row["Deal id"]
            deal = self.deals.get(name)
            if not name:
                plan.wrong(row, "Deal id is empty.")
            elif name in first:
                plan.wrong(row, f"Same deal as line {first[name]}.")
            elif deal is None:
                plan.wrong(row, f"There is no deal '{name[:50]}'.")
            else:
                plan.add(row, deal)
            first.setdefault(name, row.line)
        self.faults = plan.faults
        self.effects = [] if plan.faults else plan.effects()


class _Plan:
    """What the lines ask for, entity by entity."""

    def __init__(self, packages: Mapping[int, SupplyPackage], no_dates: str) -> None:
        self.faults: list[CsvFault] = []
        self._packages, self._no_dates = packages, no_dates
        self._deals: list[Effect] = []
        self._dates: dict[int, dict[str, tuple[datetime | None, int]]] = {}
        self._rows: dict[int, set[Key]] = {}

    def wrong(self, row: CsvRow, text: str) -> None:
        """Note what is wrong in a line."""
        self.faults.append(CsvFault(row.line, text))

    def add(self, row: CsvRow, deal: DemandDeal) -> None:
        """What a line makes of its deal, and of the deal's package."""
        key, wrong = (DEALS, deal.id or 0), list[str]()
        cells = {one.name: inputs.cell(one, row[title], wrong) for title, one in PLAIN.items()}
        before = {name: getattr(deal, name) for name in [*cells, "is_active"]}
        after = {name: one for name, one in cells.items() if one is not None and one != before[name]}
        status = row["Status"].casefold()
        if status not in ("", *ACTIVE, (deal.status or "").casefold()):
            wrong.append("Status: write active or paused.")
        elif status in ACTIVE and status != deal.status and ACTIVE[status] != deal.is_active:
            after["is_active"] = ACTIVE[status]
        if after.get(FEE_TYPE) == NO_FEE and before[FEE] is not None:
            after[FEE] = None
        for sentence in wrong or _terms_faults({**before, **after}, after):
            self.wrong(row, sentence)
        self._deals.append(Effect(key, title_of(deal), before, after, deal.etag))
        if any(row[title] for title in DATES):
            self._add_dates(row, deal, key)

    def _add_dates(self, row: CsvRow, deal: DemandDeal, key: Key) -> None:
        ids = [one.id or 0 for one in deal.supply_deals]
        if self._no_dates:
            self.wrong(row, f"Dates are those of the package. {self._no_dates}.")
        elif len(ids) != 1 or ids[0] not in self._packages:
            self.wrong(
                row, f"It belongs to {len(ids)} packages, and dates are those of one. Change them there."
            )
        else:
            package = self._packages[ids[0]]
            self._rows.setdefault(ids[0], set()).add(key)
            for title, name in DATES.items():
                self._add_date(row, title, name, package)

    def _add_date(self, row: CsvRow, title: str, name: str, package: SupplyPackage) -> None:
        text = row[title]
        if not text:
            return
        try:
            at = None if name == END and text.casefold() == NO_END else _moment(text, own_zone(package))
        except ValueError as error:
            self.wrong(row, f"{title}: {error}")
            return
        dates = self._dates.setdefault(package.id or 0, {})
        if name in dates and dates[name][0] != at:
            self.wrong(row, f"{title} is not that of line {dates[name][1]}, whose deal has the same package.")
        dates.setdefault(name, (at, row.line))

    def effects(self) -> list[Effect]:
        """What changes: deals in the order of their lines, then packages. Wrong dates are refused."""
        packages = (
            with_dates(
                self._packages[number],
                frozenset(self._rows[number]),
                {name: at for name, (at, _) in dates.items()},
            )
            for number, dates in self._dates.items()
        )
        return [*self._deals, *packages]


def _terms_faults(whole: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """What would be wrong with the terms of a deal, where they change."""
    if FEE in after or FEE_TYPE in after:
        if whole[FEE] is not None and whole[FEE_TYPE] is None:
            yield "A fee needs its type."
        size = inputs.widget_value(FEE, whole[FEE])
        if sentence := inputs.fee_fault(size, whole[FEE_TYPE], "This type of fee needs an amount."):
            yield f"{fields.BY_NAME[FEE].column}: {sentence}"
    yield from filter(None, [guarantee_fault(whole)])
    if after.get("deal_sync") and not whole[EMAIL]:
        yield "Deal sync needs a contact."


def _moment(text: str, zone: tzinfo) -> datetime:
    """A time with its offset, as our own files have it, or in this zone. ValueError, with a sentence."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is not None and at.tzinfo is not None:
        return at
    local = times.read(text)
    if local is None:
        raise ValueError(f"Not a date: write it like {times.FORM}.")
    return local.replace(tzinfo=zone)


@dataclass
class CsvChanges:
    """The dialog's contents: the file's name, the changes it asks for, and its faults."""

    name: str = ""
    job: CsvChangeJob | None = None
    faults: tuple[CsvFault, ...] = ()
    problem: str = ""


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may change deals, and the dialog while it is open."""
    does = catalog.abilities(context)
    if entity != DEALS or does.why_not(DEALS, "change") or not does.is_own:
        return
    draw_button(
        "Change deals", "edit_note", OPEN, CsvChanges, f"Prices, status and dates of up to {MOST:,} deals"
    )
    if (changes := st.session_state.get(OPEN)) is not None:
        st.dialog(TITLE, width="large", on_dismiss=lambda: close(OPEN))(_dialog)(context, changes)


def _dialog(context: PageContext, changes: CsvChanges) -> None:
    job = changes.job
    with st.empty().container():
        if job is None or job.phase == "preview":
            _form(context, changes)
        if job is not None and not job.faults:
            names = dict.fromkeys(name for one in job.effects for name in one.after)
            steps = ChangeSteps(
                f"{OPEN}_", lambda effects: field_columns(context, effects, [*names], has_same=False),
                close=lambda: close(OPEN), is_whole=True,
            )  # fmt: skip
            steps.draw(context, job)


def _form(context: PageContext, changes: CsvChanges) -> None:
    """Draw what the file must be, and what is wrong with the one that was chosen."""
    take_file = partial(take, context, changes)
    draw_file(FILE, CHANGES, WHAT, "deal-changes.csv", take_file, changes.problem)
    if faults := [*changes.faults, *(changes.job.faults if changes.job is not None else ())]:
        draw_faults(faults, changes.name, "Nothing was changed.")


def take(context: PageContext, changes: CsvChanges) -> None:
    """Read the file that was chosen. A callback."""
    file = components.chosen_file(st.session_state.get(FILE), LARGEST)
    if file is not None:
        changes.name, changes.job, changes.faults, changes.problem = file.name, None, (), file.problem
        if not file.problem:
            check(context, changes, file.text)


def check(context: PageContext, changes: CsvChanges, text: str) -> None:
    """Find out what the text asks for: its deals are read next, unless its lines can't be."""
    table = csv_text.read(text, CHANGES)
    changes.faults = table.faults
    if not table.faults:
        record = context.clients.bulk_actions.record("Changed by CSV")
        job = CsvChangeJob(
            record=record, lines=table.rows, no_dates=catalog.abilities(context).why_not(SUPPLY, "change")
        )
        job.phase, changes.job = "reading", job
