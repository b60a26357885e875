"""The deals that the rows of a packages' CSV ask for, created with the packages of the same file.

A package stands in the first row of its name. Each row of that name may have a deal, which is read like a row
of a deals' CSV.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.ui.deals import csv_deals
from lib.ui.deals.csv_text import CsvRow

COLUMNS = {
    "Seat": "Seat",
    "Price": "Price",
    "Deal name": "Name",
    "Deal sync": "Deal sync",
    "Deal active": "Active",
    "Fee type": "Fee type",
    "Fee": "Fee",
    "Contact": "Contact",
}
"""The titles of a deal's columns, with those that a deals' CSV has for them."""


@dataclass(frozen=True)
class CsvNewDeal:
    """A deal to create: its line, the line of its package, its seat, and the request without the package."""

    line: int
    package_line: int
    seat: Seat
    request: DemandDeal
    note: str = ""

    def sent(self, packages: Mapping[int, int]) -> DemandDeal:
        """The request; `packages` are the ids of the packages that were created, by their lines."""
        links = (SupplyPackage(id=packages[self.package_line]),)
        return self.request.model_copy(update={"supply_deals": links})


@dataclass
class NewDeals:
    """Reads the deals of a file's rows, and remembers which seats each package has."""

    seats: Mapping[int, Seat]
    fees: Mapping[int, str]
    why_not: str = ""
    lines: dict[tuple[int, int | None], int] = field(default_factory=dict)

    def read(
        self, row: CsvRow, package: SupplyPackage, package_line: int, faults: list[str]
    ) -> CsvNewDeal | None:
        """The deal of a row; None without one, or with what is wrong with it among the faults.

        `why_not` says why nobody here may create deals.
        """
        if not any(row[title] for title in COLUMNS):
            return None
        if self.why_not:
            faults.append(f"{self.why_not.rstrip('.')}.")
            return None
        found: list[str] = []
        plain = CsvRow(row.line, {theirs: row[title] for title, theirs in COLUMNS.items()})
        seat = csv_deals.seat_of(plain, self.seats, found)
        fields = csv_deals.fields_of(plain, seat, self.fees, found)
        if seat is not None:
            first = self.lines.setdefault((package_line, seat.id), row.line)
            if first != row.line:
                found.append(f"Same package and seat as line {first}.")
        faults += [f"Deal: {text}" for text in found]
        if seat is None or found:
            return None
        return CsvNewDeal(row.line, package_line, seat, csv_deals.deal_of(package, seat, fields))
