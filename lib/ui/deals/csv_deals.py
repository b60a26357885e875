"""The deals that the rows of a CSV ask for, and what is wrong with each; nothing is created here."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lib.deals.client import Deals
from lib.deals.models import (
    FEE_TYPES,
    LONGEST_NAME,
    NO_FEE,
    DemandDeal,
    Seat,
    SupplyPackage,
    generated_name,
)
from lib.ui.deals import pages
from lib.ui.deals.csv_text import CsvFault, CsvRow, switch
from lib.ui.deals.new_package import faults as typed_faults
from lib.ui.deals.words import seat_name
from lib.ui.kit import amounts

Packages = Mapping[str, Sequence[SupplyPackage]]
MOST_OF_A_NAME, LONGEST_ID = 100, 15


@dataclass(frozen=True)
class CsvDeal:
    """A deal to create: its line, its package and seat, and the request. `note` is what to know before."""

    line: int
    package: SupplyPackage
    seat: Seat
    deal: DemandDeal
    note: str = ""

    @property
    def request(self) -> DemandDeal:
        """What is created."""
        return self.deal

    def sent(self, packages: Mapping[int, int]) -> DemandDeal:
        """The request as it is: its package was there before."""
        return self.deal


@dataclass(frozen=True)
class CsvPlan:
    """The deals of a file, or all of its faults: with any of them nothing is to be created."""

    deals: tuple[CsvDeal, ...] = ()
    faults: tuple[CsvFault, ...] = ()


def packages(client: Deals, rows: Iterable[CsvRow]) -> dict[str, list[SupplyPackage]]:
    """The packages by what the rows call them: an id, or the exact name whatever its case."""
    names = dict.fromkeys(row["Package"] for row in rows if row["Package"])
    ids = [int(name) for name in names if _is_id(name)]
    known = {one.id: one for one in pages.of_ids(client, SupplyPackage, ids)}
    found: dict[str, list[SupplyPackage]] = {}
    for name in names:
        if _is_id(name) and int(name) in known:
            found[name] = [known[int(name)]]
        else:
            page = client.list(SupplyPackage, search=name, limit=MOST_OF_A_NAME)
            found[name] = [one for one in page.results if _same(one.name, name)]
    return found


def plan(
    client: Deals, rows: Sequence[CsvRow], seats: Mapping[int, Seat], fees: Mapping[int, str]
) -> CsvPlan:
    """What to create, or everything that is wrong. `fees` are the words of the fee types that may be set."""
    known = packages(client, rows)
    planned: list[CsvDeal] = []
    wrong: list[CsvFault] = []
    for row in rows:
        faults: list[str] = []
        package, seat = _package(row, known, faults), seat_of(row, seats, faults)
        fields = fields_of(row, seat, fees, faults)
        if package is not None and seat is not None and not faults:
            planned.append(CsvDeal(row.line, package, seat, deal_of(package, seat, fields)))
        wrong += [CsvFault(row.line, text) for text in faults]
    wrong += _repeated(planned)
    if wrong:
        return CsvPlan(faults=tuple(sorted(wrong, key=lambda one: one.line)))
    return CsvPlan(tuple(_noted(client, planned)))


def _package(row: CsvRow, known: Packages, faults: list[str]) -> SupplyPackage | None:
    name = row["Package"]
    packages = known.get(name, ())
    if not name:
        faults.append("Package is empty: give its id or its name.")
    elif not packages:
        faults.append(f"There is no package '{name[:80]}'.")
    elif len(packages) > 1:
        ids = ", ".join(str(one.id) for one in packages)
        faults.append(f"{len(packages)} packages are called '{name[:80]}': use the id ({ids}).")
    elif packages[0].status == "complete":
        faults.append(f"The package '{name[:80]}' has ended.")
    else:
        return packages[0]
    return None


def seat_of(row: CsvRow, seats: Mapping[int, Seat], faults: list[str]) -> Seat | None:
    """The seat that a row means: by its id, its name whatever its case, or its id at the DSP."""
    name = row["Seat"]
    by_id = [seats[int(name)]] if _is_id(name) and int(name) in seats else []
    found = by_id or [
        one for one in seats.values() if name and (_same(one.name, name) or one.external_id == name)
    ]
    if not name:
        faults.append("Seat is empty: give its id, its name, or its id at the DSP.")
    elif not found:
        faults.append(f"There is no seat '{name[:80]}'.")
    elif len(found) > 1:
        ids = ", ".join(str(one.id) for one in found)
        faults.append(f"{len(found)} seats are called '{name[:80]}': use the id ({ids}).")
    else:
        return found[0]
    return None


def fields_of(row: CsvRow, seat: Seat | None, fees: Mapping[int, str], faults: list[str]) -> dict[str, Any]:
    """The plain fields of the row; adds what is wrong with them."""
    price = _amount(row["Price"], "Price", "Price is empty.", faults)
    sync, active = (switch(row, title, faults) for title in ("Deal sync", "Active"))
    name, email = row["Name"], row["Contact"]
    if sentence := typed_faults.name(name):
        faults.append(f"Name: {sentence}")
    if len(name) > LONGEST_NAME:
        faults.append(f"Name: at most {LONGEST_NAME} characters.")
    if sentence := typed_faults.email(email):
        faults.append(f"Contact: {sentence}")
    if sync and not email:
        faults.append("Deal sync needs a contact.")
    if sync and seat is not None and seat.dsp is not None and seat.dsp.supports_deal_sync is False:
        faults.append(f"The DSP of the seat '{seat.name}' does not support deal sync.")
    fields = {"name": name or None, "price": price, "deal_sync": sync, "is_active": active}
    return {**fields, **_fee(row, fees, faults), "contact_email": email or None}


def _fee(row: CsvRow, fees: Mapping[int, str], faults: list[str]) -> dict[str, Any]:
    kind, size = row["Fee type"].casefold(), row["Fee"]
    if not kind:
        if size:
            faults.append("A fee needs its type.")
        return {}
    numbers = [number for number, words in FEE_TYPES.items() if words.casefold() == kind and number in fees]
    if not numbers:
        known = ", ".join(fees.values()) or "none for this service"
        faults.append(f"Unknown fee type '{kind[:50]}'. Known are: {known}.")
        return {}
    [number] = numbers
    if number == NO_FEE:
        if size:
            faults.append("There is a fee, but its type is none.")
        return {"agency_curation_fee_type": number}
    if sentence := typed_faults.fee(size, number, "This type of fee needs an amount."):
        faults.append(f"Fee: {sentence}")
        return {}
    return {"agency_curation_fee_type": number, "agency_curation_fee": amounts.read(size)}


def _amount(text: str, title: str, missing: str, faults: list[str]) -> Decimal | None:
    try:
        number = amounts.read(text)
    except ValueError as error:
        faults.append(f"{title}: {error}")
        return None
    if number is None:
        faults.append(missing)
    return number


def deal_of(package: SupplyPackage, seat: Seat, fields: Mapping[str, Any]) -> DemandDeal:
    """The request for a deal; without a name it gets one of its package and seat."""
    given = {name: value for name, value in fields.items() if value is not None}
    name = given.pop("name", None) or generated_name(package.name or "", seat_name(seat, seat.id or 0))
    links = (SupplyPackage(id=package.id),)
    return DemandDeal.model_construct(name=name, seat=Seat(id=seat.id), supply_deals=links, **given)


def _repeated(planned: Iterable[CsvDeal]) -> list[CsvFault]:
    """A second row for the same package and seat is a slip."""
    lines: dict[tuple[int | None, int | None], list[int]] = defaultdict(list)
    for one in planned:
        lines[one.package.id, one.seat.id].append(one.line)
    return [
        CsvFault(line, f"Same package and seat as line {first}.")
        for first, *others in lines.values()
        for line in others
    ]


def _noted(client: Deals, planned: Sequence[CsvDeal]) -> list[CsvDeal]:
    """The deals, with a note where the seat has one of this package already."""
    sold = {one.package.id: one.package for one in planned}
    known = pages.deals_of(client, [*sold.values()])
    has = {(package, deal.seat.id) for package, deals in known.items() for deal in deals if deal.seat}
    note = "This seat has a deal of this package already."
    return [
        CsvDeal(
            one.line, one.package, one.seat, one.deal, note if (one.package.id, one.seat.id) in has else ""
        )
        for one in planned
    ]


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_ID


def _same(name: str | None, text: str) -> bool:
    return (name or "").strip().casefold() == text.casefold()
