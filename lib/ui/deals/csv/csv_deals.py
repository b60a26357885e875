"""The deals that the rows of a CSV ask for, and what is wrong with each; nothing is created here.

A deal belongs to a package that is there, or to one of the same file. Its columns are the plain fields of
deals (lib/deals/fields.py).
"""

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

from lib.deals import fields
from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.fields import DEALS
from lib.deals.models import DemandDeal, Seat, SupplyPackage, generated_name
from lib.deals.validation import FEE_TYPE
from lib.figures import amounts
from lib.figures.deals.deal_names import seat_name
from lib.settings import Settings
from lib.ui.deals import catalog
from lib.ui.deals.changes.creation import PlannedCreation
from lib.ui.deals.changes.plan import PlannedChange, WholeSource
from lib.ui.deals.changes.shared_change import terms_faults
from lib.ui.deals.forms import inputs
from lib.ui.kit.job import STEP_SECONDS
from lib.wire.csv_text import CsvFault, CsvRow, CsvShape
from lib.wire.errors import TrancheError

PART = 500  # rows from one look at the progress to the next
FIELDS = tuple(fields.BY_NAME[name] for name in fields.writable(DEALS))
COLUMNS = {field.column: field for field in FIELDS}
MOST, LARGEST = 50_000, 6_000_000
OPTIONAL = tuple(title for title in COLUMNS if title != "Price")
NUMBERS = tuple(title for title, field in COLUMNS.items() if field.kind.limits is not None)
SHAPE = CsvShape("deals", ("Package", "Seat", "Price"), OPTIONAL, MOST, LARGEST, NUMBERS)
NUMBER_HELP = "Numbers are like 1250.60, or 1.250,60 in a file with semicolons or tabs."

Match = TypeVar("Match", Seat, SupplyPackage)
ReadRow = Callable[[CsvRow, list[str]], Iterable[PlannedChange]]
"""What a row asks for; adds to the list what is wrong with it."""


@dataclass
class CsvCheck:
    """What a file asks for, or all of its faults: with any of them nothing is to be written.

    `titles` are the columns that the file has, `checked_lines` the lines that are checked so far.
    """

    changes: list[PlannedChange] = field(default_factory=list)
    faults: list[CsvFault] = field(default_factory=list)
    checked_lines: int = 0
    titles: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[CsvRow]) -> "CsvCheck":
        """The check of these rows, as it begins."""
        return cls(titles=tuple(rows[0].texts) if rows else ())

    def lines(self, rows: Sequence[CsvRow], read_row: ReadRow) -> Iterator["CsvCheck"]:
        """Read these rows, in parts of PART: what each asks for, and what is wrong with it."""
        for count, row in enumerate(rows, 1):
            faults: list[str] = []
            self.changes += read_row(row, faults)
            self.faults += [CsvFault(row.line, text) for text in faults]
            self.checked_lines += 1
            if count % PART == 0 or count == len(rows):
                yield self

    def end(self) -> "CsvCheck":
        """The whole check, its faults in their order."""
        self.faults.sort(key=lambda fault: fault.line)
        if self.faults:
            self.changes.clear()
        return self


@dataclass(kw_only=True)
class CsvSource(WholeSource):
    """What the lines of a file ask for, of `total` lines; `check` is what is known of them so far."""

    batch_size: ClassVar[int] = 200
    parts: Iterator[CsvCheck]
    total: int
    check: CsvCheck = field(default_factory=CsvCheck)

    def read(self, client: Deals) -> list[PlannedChange]:
        """Check some more lines; a failure is a fault."""
        ends = time.monotonic() + STEP_SECONDS
        try:
            for check in self.parts:
                self.check = check
                if time.monotonic() >= ends:
                    return []
        except TrancheError as error:
            reason = f"The file can't be checked now: {error.sentence}"
            self.check.faults.append(CsvFault(1, reason))
        self.is_over = True
        return [] if self.check.faults else [*self.check.changes]

    @property
    def progress(self) -> tuple[int, int]:
        return self.check.checked_lines, self.total

    @property
    def faults(self) -> Sequence[CsvFault]:
        return self.check.faults


class SeatIndex:
    """Seats by what a row may call them: the id, the name whatever its case, or the id at the DSP."""

    def __init__(self, seats: Mapping[int, Seat]) -> None:
        self.by_id = seats
        self._by_name: dict[str, list[Seat]] = defaultdict(list)
        for seat in seats.values():
            names = {(seat.name or "").strip().casefold(), seat.external_id or ""}
            for name in filter(None, names):
                self._by_name[name].append(seat)

    def find(self, row: CsvRow, faults: list[str]) -> Seat | None:
        """The seat that a row means; None, with the fault, for none and for several."""
        name = row["Seat"]
        if is_id(name) and int(name) in self.by_id:
            return self.by_id[int(name)]
        candidates: list[Seat] = [*self._by_name.get(name.casefold(), ()), *self._by_name.get(name, ())]
        matches = {seat.id: seat for seat in candidates if _same(seat.name, name) or seat.external_id == name}
        return only("seat", name, [*matches.values()], "its id, its name, or its id at the DSP", faults)


def check(
    client: Deals, rows: Sequence[CsvRow], seats: Mapping[int, Seat], fees: Mapping[int, str]
) -> Iterator[CsvCheck]:
    """The check as it grows, at last whole. `fees` are the words of the fee types that may be set."""
    csv_check, index = CsvCheck.of(rows), SeatIndex(seats)
    packages = yield from _packages(client, rows, csv_check)
    first_line: dict[tuple[int | None, int | None], int] = {}

    def read_row(row: CsvRow, faults: list[str]) -> Iterator[PlannedCreation]:
        name = row["Package"]
        package = only("package", name, packages.get(name, ()), "its id or its name", faults)
        if package is not None and package.status == "complete":
            faults.append(f"The package '{name[:80]}' has ended.")
        seat = index.find(row, faults)
        values = read(row, seat, fees, faults)
        if package is not None and seat is not None and not faults:
            if (first := first_line.setdefault((package.id, seat.id), row.line)) != row.line:
                faults.append(f"Same package and seat as line {first}.")
            deal = request(package, seat, values)
            yield PlannedCreation.of(row.line, deal, seat=seat, package=package)

    yield from csv_check.lines(rows, read_row)
    yield csv_check.end()


def read(row: CsvRow, seat: Seat | None, fees: Mapping[int, str], faults: list[str]) -> dict[str, Any]:
    """The plain fields of a deal's row; adds what is wrong with them."""
    wrong: list[str] = []
    values = {
        field.name: inputs.cell(field, row[title], wrong, fees if field.name == FEE_TYPE else None)
        for title, field in COLUMNS.items()
    }
    if not row["Price"]:
        faults.append("Price is empty.")
    values |= pasted_currency(row["Price"], values["currency"], None, wrong)
    dsp = seat.dsp if seat is not None else None
    if values["deal_sync"] and dsp is not None and dsp.supports_deal_sync is False:
        faults.append(f"The DSP of the seat '{seat and seat.name}' does not support deal sync.")
    faults += wrong or terms_faults(values)
    return values


def pasted_currency(
    price: str, currency: str | None, before: str | None, faults: list[str]
) -> dict[str, str]:
    """The currency of a price cell like `2,10 €`, if the deal would have another; a fault beside one that the
    row names. `before` is the deal's own."""
    code = amounts.currency(price)
    if not code or code == (currency or before or Settings.current().price_currency):
        return {}
    if currency:
        faults.append(f"Price: '{price}' is in {code}, and the row's currency is {currency}.")
        return {}
    return {"currency": code}


def request(package: SupplyPackage, seat: Seat, fields_of_row: Mapping[str, Any]) -> DemandDeal:
    """The request for a deal; without a name it gets one of its package and seat."""
    values = {name: value for name, value in fields_of_row.items() if value is not None}
    name = values.pop("name", None) or generated_name(package.name or "", seat_name(seat, seat.id or 0))
    links = (_link(SupplyPackage, package.id),)
    return DemandDeal.model_construct(name=name, seat=_link(Seat, seat.id), supply_deals=links, **values)


@lru_cache(maxsize=20_000)
def _link(model: type[Match], entity_id: int | None) -> Match:
    return model(id=entity_id)


LONGEST_ID = 15  # digits; longer ones are names


def is_id(text: str) -> bool:
    """Whether a cell can be the id of something."""
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_ID


MOST_OF_A_NAME = 100
FEW_NAMES = 50  # of packages, which are searched one by one
BATCH_SIZE = 50


def _packages(
    client: Deals, rows: Iterable[CsvRow], csv_check: CsvCheck
) -> Generator[CsvCheck, None, dict[str, list[SupplyPackage]]]:
    """The packages by what the rows call them: an id, or the exact name whatever its case.

    Of many names those that are written as they are stored are read together.
    """
    names = dict.fromkeys(row["Package"] for row in rows if row["Package"])
    ids = [int(name) for name in names if is_id(name)]
    packages_of_name: dict[str, list[SupplyPackage]] = {}
    for first in range(0, len(ids), catalog.BATCH_SIZE):
        for package in catalog.of_ids(client, SupplyPackage, ids[first : first + catalog.BATCH_SIZE]):
            packages_of_name[str(package.id)] = [package]
        yield csv_check
    by_name = {str(int(name)): name for name in names if is_id(name)}
    packages = {by_name[number]: matches for number, matches in packages_of_name.items()}
    others = [name for name in names if name not in packages]
    if len(others) > FEW_NAMES and client.abilities.finds:
        for first in range(0, len(others), BATCH_SIZE):
            batch = others[first : first + BATCH_SIZE]
            for package in client.list(SupplyPackage, name=batch, limit=LARGEST_PAGE).results:
                packages.setdefault(package.name or "", []).append(package)
            yield csv_check
    for name in others:
        if name not in packages:
            page = client.list(SupplyPackage, search=name, limit=MOST_OF_A_NAME)
            packages[name] = [package for package in page.results if _same(package.name, name)]
            yield csv_check
    return packages


def only(kind: str, name: str, matches: Sequence[Match], how: str, faults: list[str]) -> Match | None:
    """The one that a cell means; None, with the fault, for none and for several."""
    if not name:
        faults.append(f"{kind.capitalize()} is empty: give {how}.")
    elif not matches:
        faults.append(f"There is no {kind} '{name[:80]}'.")
    elif len(matches) > 1:
        ids = ", ".join(str(match.id) for match in matches)
        faults.append(f"{len(matches)} {kind}s are called '{name[:80]}': use the id ({ids}).")
    else:
        return matches[0]
    return None


def _same(name: str | None, text: str) -> bool:
    return (name or "").strip().casefold() == text.casefold()
