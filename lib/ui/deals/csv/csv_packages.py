"""The packages and deals that the rows of a CSV ask for, and all that is wrong; nothing is created here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from lib.deals import fields
from lib.deals.client import Deals
from lib.deals.fields import SUPPLY
from lib.deals.models import Seat, SupplyPackage, Targeting
from lib.deals.moments import Zone
from lib.deals.targeting.kinds import KINDS, TargetingKind
from lib.slicers import zones
from lib.ui.deals.changes.creation import PlannedCreation
from lib.ui.deals.csv import csv_deals
from lib.ui.deals.csv.csv_deals import CsvCheck, SeatIndex
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.forms.entity_form import ids_of_name
from lib.wire import text as texts
from lib.wire.csv_text import CsvRow, CsvShape

ListNames = Mapping[str, Mapping[str, str]]
FIELDS = tuple(fields.BY_NAME[name] for name in fields.writable(SUPPLY))
_OWN = tuple(field.column for field in FIELDS)
OF_DEALS = {
    "Seat": "Seat",
    **{f"Deal {title.lower()}" if title in _OWN else title: title for title in ("Price", *csv_deals.COLUMNS)},
}
"""The titles of a deal's columns, with those that a deals' CSV has for them."""
REQUIRED = ("Name", "Media type", "Start")
SHAPE = CsvShape(
    "packages",
    REQUIRED,
    (
        *("End", "Time zone"),
        *(title for title in _OWN if title not in (*REQUIRED, "End")),
        *(kind.title for kind in KINDS),
        *OF_DEALS,
    ),
    numbers=tuple(title for title, own in OF_DEALS.items() if own in csv_deals.NUMBERS),
    dates=("Start", "End"),
)
ZONE, SIZE = re.compile(r"([+-])([01][0-9]):?([0-5][0-9])"), re.compile(r"([0-9]{1,5})x([0-9]{1,5})")


@dataclass
class DealCells:
    """Reads the deals of a file's rows, and remembers which seats each package has.

    A package stands in the first row of its name. Each row of that name may have a deal, which is read like
    a row of a deals' CSV. `why_not` says why nobody here may create deals.
    """

    seats: Mapping[int, Seat]
    fees: Mapping[int, str]
    why_not: str = ""
    lines: dict[tuple[int, int | None], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = SeatIndex(self.seats)

    def read(
        self, row: CsvRow, package: SupplyPackage, package_line: int, faults: list[str]
    ) -> PlannedCreation | None:
        """The deal of a row; None without one, or with what is wrong with it among the faults."""
        if not any(row[title] for title in OF_DEALS):
            return None
        if self.why_not:
            faults.append(f"{self.why_not.rstrip('.')}.")
            return None
        faults_of_deal: list[str] = []
        plain = CsvRow(row.line, {theirs: row[title] for title, theirs in OF_DEALS.items()})
        seat = self._index.find(plain, faults_of_deal)
        values = csv_deals.read(plain, seat, self.fees, faults_of_deal)
        if seat is not None:
            first = self.lines.setdefault((package_line, seat.id), row.line)
            if first != row.line:
                faults_of_deal.append(f"Same package and seat as line {first}.")
        faults += [f"Deal: {text}" for text in faults_of_deal]
        if seat is None or faults_of_deal:
            return None
        request = csv_deals.request(package, seat, values)
        return PlannedCreation.of(row.line, request, seat=seat, package_line=package_line)


def check(client: Deals, rows: Sequence[CsvRow], lists: ListNames, deals: DealCells) -> Iterator[CsvCheck]:
    """The check as it grows, at last whole. `lists` are domain and app lists: kind → id → name."""
    csv_check, package_of_name = CsvCheck.of(rows), dict[str, tuple[CsvRow, SupplyPackage]]()

    def read_row(row: CsvRow, faults: list[str]) -> Iterator[PlannedCreation]:
        name = row["Name"].casefold()
        if not name or name not in package_of_name:
            draft = Draft(
                values={field.name: _value(field, row, faults) for field in FIELDS},
                zone=_zone(row, faults),
                targeting=_targeting(row, lists, faults),
                deals="none",
            )
            draft_faults = draft.faults()
            faults += [f"{fields.BY_NAME[str(path[0])].column} is empty." for path in draft_faults.missing]
            faults += [
                f"{fields.BY_NAME[str(path[0])].column}: {text}" for path, text in draft_faults.wrong.items()
            ]
            first, package = package_of_name[name] = row, draft.package()
            yield PlannedCreation.of(row.line, package)
        else:
            # A further row is for a deal; what it says of the package may only be said again.
            first, package = package_of_name[name]
            if not any(row[title] for title in OF_DEALS):
                faults.append(f"Same name as line {first.line}.")
            else:
                faults += [
                    f"{title}: not as in line {first.line}, the first of this package."
                    for title in SHAPE.titles
                    if title not in OF_DEALS and row[title].casefold() not in ("", first[title].casefold())
                ]
        deal = deals.read(row, package, first.line, faults)
        yield from [deal] if deal is not None else []

    yield from csv_check.lines(rows, read_row)
    for index, creation in enumerate(csv_check.end().changes):
        if creation.key[0] == SUPPLY:
            others = ids_of_name(client, creation.name)
            note = f"This name is taken ({', '.join(others)})." if others else ""
            csv_check.changes[index] = replace(creation, note=note)
            yield csv_check


def _value(field: fields.DealField, row: CsvRow, faults: list[str]) -> Any:
    """A plain field as the form would hold it; its default where the cell is empty."""
    text = row[field.column]
    if field.name == "media_type" and not text:
        faults.append("Media type is empty.")
    if field.kind in (*fields.TEXTS, *fields.MOMENTS) or field.kind.limits is not None:
        return text
    value = inputs.cell(field, text, faults)
    return inputs.blank(field) if value is None else value


def _zone(row: CsvRow, faults: list[str]) -> Zone:
    """An empty time zone is UTC."""
    if row["Time zone"] in zones.names():
        return row["Time zone"]
    text = row["Time zone"].upper().removeprefix("UTC")
    match = ZONE.fullmatch(text)
    if match is None or (minutes := 60 * int(match[2]) + int(match[3])) > 14 * 60:
        if text:
            faults.append("Time zone: write a name like Europe/Berlin, UTC or an offset like +01:00.")
        return 0
    return -minutes if match[1] == "-" else minutes


BETWEEN = "|"
NOT = "not "


def _targeting(row: CsvRow, lists: ListNames, faults: list[str]) -> Targeting:
    elements: dict[str, list[dict[str, Any]]] = {}
    for kind in KINDS:
        values: set[str] = set()
        for part in filter(None, map(str.strip, row[kind.title].split(BETWEEN))):
            is_excluded = part.casefold().startswith(NOT)
            text = part[len(NOT) :].strip() if is_excluded else part
            value = _target(kind, text, lists, faults)
            if value is not None and value in values:
                faults.append(f"{kind.title}: '{text[:80]}' is given twice.")
            elif value is not None:
                values.add(value)
                names = {"name": lists[kind.name][value]} if kind.is_list else {}
                elements.setdefault(kind.field, []).append(kind.element(value, is_excluded) | names)
    try:
        return Targeting.model_validate(elements)
    except ValidationError:
        faults.append("The targeting can't be read.")
        return Targeting()


LARGEST_SIDE = 20_000
LONGEST_VALUE = 200


def _target(kind: TargetingKind, text: str, lists: ListNames, faults: list[str]) -> str | None:
    """The value of an element, of a list its id; None, with the fault, for what is none."""
    if kind.is_list:
        names = lists[kind.name]
        ids = [number for number, name in names.items() if name.strip().casefold() == text.casefold()]
        if text in names or len(ids) == 1:
            return text if text in names else ids[0]
        fault = f"{kind.title}: there is no list '{text[:80]}'."
        if ids:
            several = f"{len(ids)} lists are called '{text[:80]}'"
            fault = f"{kind.title}: {several}: use the id ({', '.join(ids)})."
    elif kind.name == "size":
        match = SIZE.fullmatch(text.casefold().replace(" ", ""))
        if match and all(0 < int(side) <= LARGEST_SIDE for side in match.groups()):
            return f"{int(match[1])}x{int(match[2])}"
        fault = f"Size: '{text[:80]}' is no size like 300x250."
    elif text and len(text) <= LONGEST_VALUE and not texts.fault(text):
        return text
    else:
        fault = f"{kind.title}: '{text[:80]}' is no value."
    faults.append(fault)
    return None
