"""Changing existing deals by a CSV: plain fields, status, and the dates of their packages.

All lines are read and checked before anything can be sent. What is sent goes in batches, each all or none,
and only if nobody has changed these deals and packages since they were read.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals import catalog
from lib.ui.deals.changes.plan import ChangePlan, PlannedChange
from lib.ui.deals.changes.plan_steps import PlanSteps, field_columns
from lib.ui.deals.changes.shared_change import ACTIVE, END, START, SharedChange, of_package, own_zone
from lib.ui.deals.csv import csv_dialog
from lib.ui.deals.csv.csv_deals import COLUMNS, NUMBER_HELP, NUMBERS, CsvCheck, CsvSource, pasted_currency
from lib.ui.deals.csv.csv_dialog import CsvKind
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.forms import inputs
from lib.ui.kit import times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.csv_text import CsvRow, CsvShape

MOST = 5_000
LARGEST = 600_000  # bytes of a file
BATCH = 200
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
- Optional: **Price** · **Status**: active or paused · **Start** and **End** of its package, like 2026-11-30
  or 2026-11-30 09:00; *none* removes the end
- Optional: {_OTHERS}

{NUMBER_HELP} An empty cell keeps what is there. Nothing is saved unless every line is right."""


def check(client: Deals, rows: Sequence[CsvRow], no_dates: str) -> Iterator[CsvCheck]:
    """The check as it grows, at last whole: deals are read by deal id, and packages whose dates change.

    `no_dates` is why packages can't be changed; empty if they can.
    """
    csv_check, lines = CsvCheck.of(rows), _Lines(no_dates)
    for first in range(0, len(rows), BATCH):
        part = rows[first : first + BATCH]
        lines.read(client, part)
        yield from csv_check.lines(part, lines.add)
    csv_check.changes = lines.changes()
    yield csv_check.end()


NO_END = "none"


class _Lines:
    """What the lines ask for, entity by entity."""

    def __init__(self, no_dates: str) -> None:
        self._no_dates = no_dates
        self._deal_of_id: dict[str, DemandDeal] = {}
        self._packages: dict[int, SupplyPackage] = {}
        self._first_line: dict[str, int] = {}
        self._deals: list[PlannedChange] = []
        self._dates: dict[int, dict[str, tuple[datetime | None, int]]] = {}
        self._rows: dict[int, set[Key]] = {}

    def read(self, client: Deals, rows: Sequence[CsvRow]) -> None:
        """Read the deals of these rows, and the packages whose dates they change: a deal's only one."""
        params = {"limit": LARGEST_PAGE, "etags": True}
        if ids := [*dict.fromkeys(row["Deal id"] for row in rows if row["Deal id"])]:
            deals = client.list(DemandDeal, deal_id=ids, **params).results
            self._deal_of_id |= {deal.deal_id or "": deal for deal in deals}
        with_dates = {row["Deal id"] for row in rows if any(row[title] for title in DATES)}
        links = [deal.supply_deals for name in with_dates if (deal := self._deal_of_id.get(name))]
        package_ids = {link.id or 0 for link, *others in filter(None, links) if not others}
        if missing := [*package_ids - self._packages.keys()]:
            packages = client.list(SupplyPackage, id=missing, **params).results
            self._packages |= {package.id or 0: package for package in packages}

    def add(self, row: CsvRow, wrong: list[str]) -> Sequence[PlannedChange]:
        """What a line makes of its deal, and of the deal's package; these are planned once all are known."""
        name = row["Deal id"]
        deal = self._deal_of_id.get(name)
        if not name:
            wrong.append("Deal id is empty.")
        elif (first := self._first_line.setdefault(name, row.line)) != row.line:
            wrong.append(f"Same deal as line {first}.")
        elif deal is None:
            wrong.append(f"There is no deal '{name[:50]}'.")
        else:
            cells = {plain.name: inputs.cell(plain, row[title], wrong) for title, plain in PLAIN.items()}
            cells |= pasted_currency(row["Price"], cells["currency"], deal.currency, wrong)
            status = row["Status"].casefold()
            if status not in ("", *STATUSES, (deal.status or "").casefold()):
                wrong.append("Status: write active or paused.")
            elif status in STATUSES and status != deal.status:
                cells[ACTIVE] = STATUSES[status]
            values = {name: value for name, value in cells.items() if value is not None}
            change = SharedChange(deal=values).of_deal(deal, frozenset())
            if change.refusal and not wrong:
                wrong.append(change.refusal)
            self._deals.append(change)
            if any(row[title] for title in DATES):
                self._add_dates(row, deal, wrong)
        return ()

    def _add_dates(self, row: CsvRow, deal: DemandDeal, wrong: list[str]) -> None:
        ids = [package.id or 0 for package in deal.supply_deals]
        if self._no_dates:
            wrong.append(f"Dates are those of the package. {self._no_dates}.")
            return
        if len(ids) != 1 or ids[0] not in self._packages:
            count = f"It belongs to {len(ids)} packages"
            wrong.append(f"{count}, and dates are those of one. Change them there.")
            return
        self._rows.setdefault(ids[0], set()).add((DEALS, deal.id or 0))
        zone = own_zone(self._packages[ids[0]])
        for title, name in DATES.items():
            if not (text := row[title]):
                continue
            has_no_end = name == END and text.casefold() == NO_END
            try:
                at = None if has_no_end else _moment(text, zone, name == END)
            except ValueError as error:
                wrong.append(f"{title}: {error}")
                continue
            dates = self._dates.setdefault(ids[0], {})
            if name in dates and dates[name][0] != at:
                wrong.append(
                    f"{title} is not that of line {dates[name][1]}, whose deal has the same package."
                )
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
    local = times.read(text, is_end=is_end)
    if local is None:
        raise ValueError(f"Not a date: write it like {times.FORM}.")
    return local.replace(tzinfo=zone)


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may change deals, and the dialog while it is open."""
    does = catalog.abilities(context)
    if entity == DEALS and does.is_own and not does.why_not(DEALS, "change"):
        help_ = f"Prices, status and dates of up to {MOST:,} deals"
        csv_dialog.draw(context, KIND, "Change deals", "edit_note", help_)


def csv_plan(
    client: Deals, actions: BulkActions, rows: Sequence[CsvRow], no_dates: str = ""
) -> ChangePlan[CsvSource]:
    """What the rows of a file ask for: their deals are read next."""
    source = CsvSource(parts=check(client, rows, no_dates), total=len(rows))
    return ChangePlan(source=source, record=actions.record("Changed by CSV")).begin()


def _begin(context: PageContext, rows: Sequence[CsvRow]) -> ChangePlan[CsvSource]:
    no_dates = catalog.abilities(context).why_not(SUPPLY, "change")
    return csv_plan(context.deals, context.clients.bulk_actions, rows, no_dates)


def _steps(
    context: PageContext, plan: ChangePlan[CsvSource], prefix: str, close: Callable[[], None]
) -> PlanSteps:
    names = [*dict.fromkeys(name for change in plan.changes for name in change.after)]
    return PlanSteps(
        prefix, lambda changes: field_columns(context, changes, names, has_same=False), close=close
    )


KIND = CsvKind(
    OPEN, "Change deals by CSV", "deal-changes.csv", CHANGES, WHAT, "Nothing was changed.", _begin, _steps
)
