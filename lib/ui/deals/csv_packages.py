"""The packages and deals that the rows of a CSV ask for, and all that is wrong; nothing is created here."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from lib.deals.client import Deals
from lib.deals.models import LONGEST_NAME, MEDIA_TYPES, SupplyPackage, Targeting
from lib.insight.kinds import KINDS, TargetingKind
from lib.ui.deals.csv_new_deals import COLUMNS, CsvNewDeal, NewDeals
from lib.ui.deals.csv_text import CsvFault, CsvRow, CsvShape, switch
from lib.ui.deals.draft import Draft
from lib.ui.deals.new_package import faults as typed_faults
from lib.ui.deals.new_package import names
from lib.wire import text as texts

Named = Mapping[str, Mapping[str, str]]
PACKAGES = CsvShape(
    "packages",
    ("Name", "Media type", "Start"),
    (
        *("End", "Time zone", "Active", "Dynamic bidding", "True price"),
        *(kind.title for kind in KINDS),
        *COLUMNS,
    ),
)
BETWEEN, NOT, LARGEST_SIDE, LONGEST_VALUE = "|", "not ", 20_000, 200
ZONE, SIZE = re.compile(r"([+-])([01][0-9]):?([0-5][0-9])"), re.compile(r"([0-9]{1,5})x([0-9]{1,5})")
AT = {"name": "Name", "start_date": "Start", "end_date": "End"}


@dataclass(frozen=True)
class CsvPackage:
    """A package to create: its line, and the request. `note` is what to know before."""

    line: int
    request: SupplyPackage
    note: str = ""

    def sent(self, packages: Mapping[int, int]) -> SupplyPackage:
        """The request as it is."""
        return self.request


@dataclass(frozen=True)
class CsvPackages:
    """The packages of a file and their deals, or all of its faults: with any nothing is to be created."""

    wanted: tuple[CsvPackage | CsvNewDeal, ...] = ()
    faults: tuple[CsvFault, ...] = ()


def plan(client: Deals, rows: Sequence[CsvRow], lists: Named, deals: NewDeals) -> CsvPackages:
    """What to create, or everything that is wrong. `lists` are domain and app lists: kind → id → name."""
    planned: list[CsvPackage | CsvNewDeal] = []
    wrong: list[CsvFault] = []
    known: dict[str, tuple[CsvRow, CsvPackage]] = {}
    for row in rows:
        faults: list[str] = []
        name = row["Name"].casefold()
        if name and name in known:
            first, package = known[name]
            _again(row, first, faults)
        else:
            package = CsvPackage(row.line, _package(row, lists, faults))
            known[name] = row, package
            planned.append(package)
        deal = deals.read(row, package.request, package.line, faults)
        planned += [deal] if deal is not None else []
        wrong += [CsvFault(row.line, text) for text in faults]
    if wrong:
        return CsvPackages(faults=tuple(wrong))
    return CsvPackages(tuple(_noted(client, planned)))


def _again(row: CsvRow, first: CsvRow, faults: list[str]) -> None:
    """A further row of a package is for a deal; what it says of the package may only be said again."""
    if not any(row[title] for title in COLUMNS):
        faults.append(f"Same name as line {first.line}.")
        return
    for title in PACKAGES.titles:
        if title not in COLUMNS and row[title].casefold() not in ("", first[title].casefold()):
            faults.append(f"{title}: not as in line {first.line}, the first of this package.")


def _package(row: CsvRow, lists: Named, faults: list[str]) -> SupplyPackage:
    """The package, as the form New package would make it; adds everything that is wrong with the row."""
    switches = {title: switch(row, title, faults) for title in ("Active", "Dynamic bidding", "True price")}
    draft = Draft(
        name=row["Name"],
        media_type=_media_type(row, faults),
        start=row["Start"],
        end=row["End"],
        offset=_offset(row, faults),
        is_active=switches["Active"] is not False,
        is_dynamic_bidding=bool(switches["Dynamic bidding"]),
        is_true_price_opt_enable=bool(switches["True price"]),
        targeting=_targeting(row, lists, faults),
        deals="none",
    )
    found = typed_faults.of(draft)
    faults += [f"{AT[str(place[0])]} is empty." for place in found.missing]
    faults += [f"{AT[str(place[0])]}: {text}" for place, text in found.wrong.items()]
    if len(draft.name) > LONGEST_NAME:
        faults.append(f"Name: at most {LONGEST_NAME} characters.")
    return draft.package()


def _media_type(row: CsvRow, faults: list[str]) -> str | None:
    text = row["Media type"].casefold()
    if text in MEDIA_TYPES:
        return text
    faults.append(f"Media type: write one of {', '.join(MEDIA_TYPES)}.")
    return None


def _offset(row: CsvRow, faults: list[str]) -> int:
    """Minutes east of UTC; an empty time zone is UTC."""
    text = row["Time zone"].upper().removeprefix("UTC")
    match = ZONE.fullmatch(text)
    if match is None or (minutes := 60 * int(match[2]) + int(match[3])) > 14 * 60:
        if text:
            faults.append("Time zone: write UTC or an offset like +01:00.")
        return 0
    return -minutes if match[1] == "-" else minutes


def _targeting(row: CsvRow, lists: Named, faults: list[str]) -> Targeting:
    elements: dict[str, list[dict[str, Any]]] = {}
    for kind in KINDS:
        seen: set[str] = set()
        for part in filter(None, map(str.strip, row[kind.title].split(BETWEEN))):
            is_excluded = part.casefold().startswith(NOT)
            text = part[len(NOT) :].strip() if is_excluded else part
            value = _value(kind, text, lists, faults)
            if value is not None and value in seen:
                faults.append(f"{kind.title}: '{text[:80]}' is given twice.")
            elif value is not None:
                seen.add(value)
                names = {"name": lists[kind.name][value]} if kind.is_list else {}
                elements.setdefault(kind.field, []).append(kind.element(value, is_excluded) | names)
    try:
        return Targeting.model_validate(elements)
    except ValidationError:
        faults.append("The targeting can't be read.")
        return Targeting()


def _value(kind: TargetingKind, text: str, lists: Named, faults: list[str]) -> str | None:
    """The value of an element, of a list its id; None, with the fault, for what is none."""
    if kind.is_list:
        return _list(kind, text, lists[kind.name], faults)
    if kind.name == "size":
        match = SIZE.fullmatch(text.casefold().replace(" ", ""))
        if match and all(0 < int(side) <= LARGEST_SIDE for side in match.groups()):
            return f"{int(match[1])}x{int(match[2])}"
        faults.append(f"Size: '{text[:80]}' is no size like 300x250.")
        return None
    if not text or len(text) > LONGEST_VALUE or texts.fault(text):
        faults.append(f"{kind.title}: '{text[:80]}' is no value.")
        return None
    return text


def _list(kind: TargetingKind, text: str, known: Mapping[str, str], faults: list[str]) -> str | None:
    if text in known:
        return text
    ids = [number for number, name in known.items() if name.strip().casefold() == text.casefold()]
    if len(ids) == 1:
        return ids[0]
    if ids:
        sentence = f"{len(ids)} lists are called '{text[:80]}': use the id ({', '.join(ids)})."
    else:
        sentence = f"there is no list '{text[:80]}'."
    faults.append(f"{kind.title}: {sentence}")
    return None


def _noted(client: Deals, planned: Iterable[CsvPackage | CsvNewDeal]) -> list[CsvPackage | CsvNewDeal]:
    """The packages, with a note where one of that name exists, and the deals."""
    found: list[CsvPackage | CsvNewDeal] = []
    for one in planned:
        if isinstance(one, CsvNewDeal):
            found.append(one)
            continue
        taken = names.taken(client, one.request.name or "")
        found.append(replace(one, note=f"This name is taken ({', '.join(taken)})." if taken else ""))
    return found
