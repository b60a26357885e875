"""Changing existing deals by a CSV: plain fields, status, and the dates of their packages.

All lines are read and checked before anything can be sent. What is sent goes in batches, each all or none,
and only if nobody has changed these deals and packages since they were read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, ClassVar, TypeVar

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals import catalog
from lib.ui.deals.changes.plan import ChangePlan, PlannedChange, WholeSource
from lib.ui.deals.changes.plan_steps import PlanSteps, field_columns
from lib.ui.deals.changes.shared_change import ACTIVE, END, START, SharedChange, of_package, own_zone
from lib.ui.deals.csv import csv_dialog
from lib.ui.deals.csv.csv_deals import COLUMNS, NUMBERS, pasted_currency
from lib.ui.deals.csv.csv_dialog import CsvKind
from lib.ui.deals.forms import inputs
from lib.ui.deals.list.deal_rows import Key
from lib.ui.kit import times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.csv_text import CsvFault, CsvRow, CsvShape
from lib.wire.errors import TrancheError

MOST, LARGEST, NO_END = 5_000, 600_000, "none"
Model = TypeVar("Model", DemandDeal, SupplyPackage)
PLAIN = {title: plain for title, plain in COLUMNS.items() if plain.name != ACTIVE}
"""The columns of plain fields; that of is_active is Status."""
FIRST = ("Price", "Status", "Start", "End")
CHANGES = CsvShape(
    "deals", ("Deal id",), (*FIRST, *(title for title in PLAIN if title not in FIRST)), MOST, LARGEST,
    NUMBERS, ("Start", "End"),
)  # fmt: skip
DATES = {"Start": START, "End": END}
STATUSES = {"active": True, "paused": False}
OPEN = "deals_csv_changes"
_OTHERS = ", ".join(f"**{plain(title)}**" for title in PLAIN if title != "Price")
WHAT = f"""Each line changes a deal that exists.

- **Deal id**, like TR-7K2Q-9FXA-4M1D
- Optional: **Price**, with a decimal point · **Status**: active or paused · **Start** and **End** of its
  package, like 2026-11-30 or 2026-11-30 09:00; *none* removes the end
- Optional: {_OTHERS}

An empty cell keeps what is there. Nothing is saved unless every line is right."""


@dataclass(kw_only=True)
class CsvChangeSource(WholeSource):
    """The changes of a file's lines; `faults` are all that is wrong with them.

    `no_dates` is why packages can't be changed; empty if they can. `deals` are those read by deal id, None
    where there is none, `packages` those whose dates change by id.
    """

    batch_size: ClassVar[int] = 200
    lines: Sequence[CsvRow]
    no_dates: str = ""
    faults: list[CsvFault] = field(default_factory=list)
    deals: dict[str, DemandDeal | None] = field(default_factory=dict)
    packages: dict[int, SupplyPackage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._deal_ids = [*dict.fromkeys(row["Deal id"] for row in self.lines if row["Deal id"])]

    def read(self, client: Deals) -> list[PlannedChange]:
        """Read some more; with the last ones the lines are checked. Where that fails it is a fault."""
        try:
            if ids := self._deal_ids[len(self.deals) :][: self.batch_size]:
                self.deals |= dict.fromkeys(ids)
                for deal in _list(client, DemandDeal, deal_id=ids):
                    self.deals[deal.deal_id or ""] = deal
            elif missing := [number for number in self._package_ids() if number not in self.packages]:
                for package in _list(client, SupplyPackage, id=missing[: self.batch_size]):
                    self.packages[package.id or 0] = package
            else:
                return self._check()
        except TrancheError as error:
            self.faults = [CsvFault(1, f"The deals can't be read now: {error.sentence}")]
            self.is_over = True
        return []

    @property
    def progress(self) -> tuple[int, int]:
        return len(self.deals), len(self._deal_ids)

    def _package_ids(self) -> Iterator[int]:
        """The packages whose dates a line changes: a deal's only one."""
        for row in self.lines:
            deal = self.deals.get(row["Deal id"])
            if deal is not None and len(deal.supply_deals) == 1 and any(row[title] for title in DATES):
                yield deal.supply_deals[0].id or 0

    def _check(self) -> list[PlannedChange]:
        """What the lines change; nothing, and everything that is wrong with them, if anything is."""
        first: dict[str, int] = {}
        self.is_over = True
        lines = _Lines(self.packages, self.no_dates)
        for row in self.lines:
            name = row["Deal id"]
            deal = self.deals.get(name)
            if not name:
                lines.wrong(row, "Deal id is empty.")
            elif name in first:
                lines.wrong(row, f"Same deal as line {first[name]}.")
            elif deal is None:
                lines.wrong(row, f"There is no deal '{name[:50]}'.")
            else:
                lines.add(row, deal)
            first.setdefault(name, row.line)
        self.faults = lines.faults
        return [] if lines.faults else lines.changes()


def _list(client: Deals, model: type[Model], **params: Any) -> Iterable[Model]:
    return client.list(model, limit=LARGEST_PAGE, etags=True, **params).results


class _Lines:
    """What the lines ask for, entity by entity."""

    def __init__(self, packages: Mapping[int, SupplyPackage], no_dates: str) -> None:
        self.faults: list[CsvFault] = []
        self._packages, self._no_dates = packages, no_dates
        self._deals: list[PlannedChange] = []
        self._dates: dict[int, dict[str, tuple[datetime | None, int]]] = {}
        self._rows: dict[int, set[Key]] = {}

    def wrong(self, row: CsvRow, text: str) -> None:
        self.faults.append(CsvFault(row.line, text))

    def add(self, row: CsvRow, deal: DemandDeal) -> None:
        """What a line makes of its deal, and of the deal's package."""
        key, wrong = (DEALS, deal.id or 0), list[str]()
        cells = {plain.name: inputs.cell(plain, row[title], wrong) for title, plain in PLAIN.items()}
        cells |= pasted_currency(row["Price"], cells["currency"], deal.currency, wrong)
        status = row["Status"].casefold()
        if status not in ("", *STATUSES, (deal.status or "").casefold()):
            wrong.append("Status: write active or paused.")
        elif status in STATUSES and status != deal.status:
            cells[ACTIVE] = STATUSES[status]
        values = {name: value for name, value in cells.items() if value is not None}
        change = SharedChange(deal=values).of_deal(deal, frozenset())
        for sentence in wrong or filter(None, [change.refusal]):
            self.wrong(row, sentence)
        self._deals.append(change)
        if any(row[title] for title in DATES):
            self._add_dates(row, deal, key)

    def _add_dates(self, row: CsvRow, deal: DemandDeal, key: Key) -> None:
        ids = [package.id or 0 for package in deal.supply_deals]
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
            at = (
                None
                if name == END and text.casefold() == NO_END
                else _moment(text, own_zone(package), name == END)
            )
        except ValueError as error:
            self.wrong(row, f"{title}: {error}")
            return
        dates = self._dates.setdefault(package.id or 0, {})
        if name in dates and dates[name][0] != at:
            self.wrong(row, f"{title} is not that of line {dates[name][1]}, whose deal has the same package.")
        dates.setdefault(name, (at, row.line))

    def changes(self) -> list[PlannedChange]:
        """What changes: deals in the order of their lines, then packages. Wrong dates are refused."""
        packages = (
            of_package(
                self._packages[number],
                frozenset(self._rows[number]),
                {},
                {name: at for name, (at, _) in dates.items()},
            )
            for number, dates in self._dates.items()
        )
        return [*self._deals, *packages]


def _moment(text: str, zone: tzinfo, is_end: bool) -> datetime:
    """A time with its offset, as our own files have it, or in this zone; an end without a time is the last
    day. ValueError, with a sentence."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is not None and at.tzinfo is not None:
        return at
    local = times.read_end(text) if is_end else times.read(text)
    if local is None:
        raise ValueError(f"Not a date: write it like {times.FORM}.")
    return local.replace(tzinfo=zone)


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may change deals, and the dialog while it is open."""
    does = catalog.abilities(context)
    if entity == DEALS and does.is_own and not does.why_not(DEALS, "change"):
        help_ = f"Prices, status and dates of up to {MOST:,} deals"
        csv_dialog.draw(context, KIND, "Change deals", "edit_note", help_)


def csv_plan(actions: BulkActions, rows: Sequence[CsvRow], no_dates: str = "") -> ChangePlan[CsvChangeSource]:
    """What the rows of a file ask for: their deals are read next."""
    source = CsvChangeSource(lines=rows, no_dates=no_dates)
    return ChangePlan(source=source, record=actions.record("Changed by CSV")).begin()


def _begin(context: PageContext, rows: Sequence[CsvRow]) -> ChangePlan[CsvChangeSource]:
    no_dates = catalog.abilities(context).why_not(SUPPLY, "change")
    return csv_plan(context.clients.bulk_actions, rows, no_dates)


def _steps(
    context: PageContext, plan: ChangePlan[CsvChangeSource], prefix: str, close: Callable[[], None]
) -> PlanSteps:
    names = [*dict.fromkeys(name for change in plan.changes for name in change.after)]
    return PlanSteps(
        prefix, lambda changes: field_columns(context, changes, names, has_same=False), close=close
    )


KIND = CsvKind(
    OPEN, "Change deals by CSV", "deal-changes.csv", CHANGES, WHAT, "Nothing was changed.", _begin, _steps
)
