"""The changes of existing deals that a CSV asks for: plain fields, status, and the dates of their packages.

All lines are read and checked before anything can be sent. What is sent goes in batches, each all or none,
and only if nobody has changed these deals and packages since they were read.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from lib.deals import fields
from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.models import NO_FEE, DemandDeal, PackageOrDeal, SupplyPackage
from lib.ui.deals import inputs
from lib.ui.deals.csv_deals import COLUMNS
from lib.ui.deals.csv_text import CsvFault, CsvRow, CsvShape
from lib.ui.deals.inputs import EMAIL, FEE, FEE_TYPE
from lib.ui.deals.planned_job import MAY_BE, Outcome, PlannedJob, drop, row_of, with_full_stop
from lib.ui.deals.rows import Key
from lib.ui.deals.several_change import END, START, Effect, own_zone, with_dates
from lib.ui.kit import times
from lib.ui.kit.job import STEP_SECONDS
from lib.ui.kit.problems import is_open
from lib.wire.errors import TrancheError

MOST, LARGEST, TOGETHER, NO_END = 5_000, 600_000, 200, "none"
PLAIN = {title: one for title, one in COLUMNS.items() if one.name != "is_active"}
"""The columns of plain fields; that of is_active is Status."""
FIRST = ("Price", "Status", "Start", "End")
CHANGES = CsvShape(
    "deals", ("Deal id",), (*FIRST, *(title for title in PLAIN if title not in FIRST)), MOST, LARGEST
)
DATES = {"Start": START, "End": END}
ACTIVE = {"active": True, "paused": False}
DEALS, SUPPLY = DemandDeal.entity, SupplyPackage.entity


@dataclass(kw_only=True)
class CsvChangeJob(PlannedJob):
    """The changes of a file as far as they have come; `faults` are all that is wrong with its lines.

    `no_dates` is why packages can't be changed; empty if they can. `deals` are those read by deal id, None
    where there is none, `packages` those whose dates change by id.
    """

    lines: Sequence[CsvRow]
    no_dates: str = ""
    faults: list[CsvFault] = field(default_factory=list)
    deals: dict[str, DemandDeal | None] = field(default_factory=dict)
    packages: dict[int, SupplyPackage] = field(default_factory=dict)

    def planned(self, found: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Remember an entity that was read."""
        if isinstance(found, SupplyPackage):
            self.packages[key[1]] = found
        else:
            self.deals[found.deal_id or ""] = found

    def name(self, key: Key) -> str:
        """What it is called."""
        package = self.packages.get(key[1]) if key[0] == SUPPLY else None
        return (package and package.name) or f"{key[0]} {key[1]}"

    def read(self, client: Deals) -> None:
        """Read some more; with the last ones the lines are checked. Where that fails it is a fault."""
        try:
            self._read_some(client, time.monotonic() + STEP_SECONDS)
        except TrancheError as error:
            self.faults = [CsvFault(1, f"The deals can't be read now: {with_full_stop(error.reason)}")]
            self.phase = "preview"

    def _read_some(self, client: Deals, ends: float) -> None:
        while self.phase == "reading" and time.monotonic() < ends:
            if ids := [one for one in self._deal_ids() if one not in self.deals][:TOGETHER]:
                self.deals |= dict.fromkeys(ids)
                self._read(client, DemandDeal, deal_id=ids)
            elif numbers := [one for one in self._package_ids() if one not in self.packages][:TOGETHER]:
                self._read(client, SupplyPackage, id=numbers)
            else:
                self._check()
                self.phase = "preview"

    def write(self, client: Deals) -> None:
        """Send some more batches. After one that was refused the rest is not sent."""
        ends = time.monotonic() + STEP_SECONDS
        while self.left and self.phase == "writing" and time.monotonic() < ends:
            entity = self.left[0].key[0]
            some = [one for one in self.left[:TOGETHER] if one.key[0] == entity]
            outcomes = self._send(client, entity, some)
            self.outcomes += outcomes
            del self.left[: len(some)]
            if any(one.reason for one in outcomes):
                self.phase = "done"
        if not self.left:
            self.phase = "done"

    @property
    def progress(self) -> tuple[int, int]:
        """How many deals are read, or how many changes sent, of how many."""
        return (len(self.deals), len(self._deal_ids())) if self.phase == "reading" else super().progress

    def _read(self, client: Deals, model: type[PackageOrDeal], **params: Any) -> None:
        for one in client.list(model, limit=LARGEST_PAGE, etags=True, **params).results:
            self.planned(one, (model.entity, one.id or 0), frozenset())

    def _send(self, client: Deals, entity: str, some: Sequence[Effect]) -> list[Outcome]:
        """Send a batch, which is recorded for Undo before."""
        try:
            self.record.add([row_of(one) for one in some])
            changes = {one.key[1]: one.after for one in some}
            refused = client.change_all(entity, changes, {one.key[1]: one.etag or "" for one in some})
        except TrancheError as error:
            reason = with_full_stop(error.reason) + (MAY_BE if is_open(error) else "")
            if not is_open(error):
                drop(self.record, [one.key for one in some])
            return [Outcome(one, reason, is_open(error)) for one in some]
        if refused:
            drop(self.record, [one.key for one in some])
        return [
            Outcome(one, with_full_stop(refused[one.key[1]]) if one.key[1] in refused else "") for one in some
        ]

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
        name = deal.name or f"Deal {deal.id}"
        self._deals.append(Effect(key, name, frozenset({key}), before, after, deal.etag))
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
        known = self._dates.setdefault(package.id or 0, {})
        if name in known and known[name][0] != at:
            self.wrong(row, f"{title} is not that of line {known[name][1]}, whose deal has the same package.")
        known.setdefault(name, (at, row.line))

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
        held = inputs.typed(FEE, whole[FEE])
        if sentence := inputs.fee_fault(held, whole[FEE_TYPE], "This type of fee needs an amount."):
            yield f"{fields.BY_NAME[FEE].column}: {sentence}"
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
