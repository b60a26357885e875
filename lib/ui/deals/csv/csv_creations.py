"""Creating packages and deals by a CSV: what its lines ask for is checked, then created by a plan.

Here are the lines of packages with their deals; those of deals alone are in csv_deals.py.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from lib.deals import fields
from lib.deals.client import Deals
from lib.deals.fields import SUPPLY
from lib.deals.models import DemandDeal, Seat, SupplyPackage, Targeting
from lib.deals.moments import Zone
from lib.deals.targeting.kinds import KINDS as TARGETS
from lib.deals.targeting.kinds import TargetingKind
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.deals.deal_names import KINDS, seat_name
from lib.figures.deals.targeting_text import Marks, value_label
from lib.slicers import zones
from lib.ui.deals import catalog
from lib.ui.deals.changes.creation import CreationPlan, PlannedCreation
from lib.ui.deals.changes.plan import ChangePlan, PlannedChange, WholeSource
from lib.ui.deals.changes.plan_steps import Columns, PlanSteps
from lib.ui.deals.csv import csv_deals, csv_dialog
from lib.ui.deals.csv.csv_deals import CsvCheck, CsvSource, SeatIndex
from lib.ui.deals.csv.csv_dialog import CsvKind
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.forms.entity_form import ids_of_name
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
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
        *(kind.title for kind in TARGETS),
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


def check_packages(
    client: Deals, rows: Sequence[CsvRow], lists: ListNames, deals: DealCells
) -> Iterator[CsvCheck]:
    """The check as it grows, at last whole. `lists` are domain and app lists: kind → id → name."""
    csv_check, package_of_name = CsvCheck.of(rows), dict[str, tuple[CsvRow, SupplyPackage]]()

    def read_row(row: CsvRow, faults: list[str]) -> Iterator[PlannedCreation]:
        name = row["Name"].casefold()
        if not name or name not in package_of_name:
            draft = Draft(
                values={field.name: _value(field, row, faults) for field in FIELDS}, zone=_zone(row, faults),
                targeting=_targeting(row, lists, faults), deals="none",
            )  # fmt: skip
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
    for kind in TARGETS:
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


OPTIONAL = [title for title in csv_deals.OPTIONAL if title != "Name"]
SWITCHES = [row.column for row in FIELDS if row.kind is fields.SWITCH]
NOTHING_CREATED = "Nothing was created."
KINDS_BY_TITLE = {kind.title: kind for kind in TARGETS}
PACKAGE_FIELDS = {field.column: field for field in FIELDS}


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may create these entities, and the dialog while it is open."""
    if not catalog.abilities(context).why_not(entity, "create"):
        csv_dialog.draw(context, CREATIONS[entity], f"Create {KINDS[entity].lower()}s", "upload")


def _begin(entity: str, context: PageContext, rows: Sequence[CsvRow]) -> ChangePlan[WholeSource]:
    seats, does = catalog.seats(context), catalog.abilities(context)
    if entity == fields.DEALS:
        parts = csv_deals.check(context.deals, rows, seats, does.fees)
    else:
        deals = DealCells(seats, does.fees, does.why_not(fields.DEALS, "create"))
        parts = check_packages(context.deals, rows, catalog.named_lists(context), deals)
    source = CsvSource(parts=parts, total=len(rows))
    record = context.clients.bulk_actions.record("Created from a CSV")
    return CreationPlan(source=source, record=record).begin()


def _steps(
    context: PageContext, plan: ChangePlan[CsvSource], prefix: str, close: Callable[[], None]
) -> PlanSteps:
    def columns(changes: Sequence[PlannedChange]) -> Columns:
        creations = [change for change in changes if isinstance(change, PlannedCreation)]
        if plan.phase != "done" or not isinstance(plan, CreationPlan):
            packages = [creation.new_package for creation in creations if creation.is_package]
            marks = (
                targeting_text.marks(context, deal_report.usual_days(context), packages) if packages else {}
            )
            columns: Columns = {"Line": [creation.line for creation in creations]}
            if 0 < len(packages) < len(creations):
                columns["Kind"] = [KINDS[creation.key[0]] for creation in creations]
            price, unit = fields.BY_NAME["price"].column, field_text.prices_of(context).title
            for title in plan.source.check.titles:
                if title != "Name":
                    column = unit if title == price else title
                    columns[column] = [cell(creation, title, marks) for creation in creations]
            return columns
        keys = [outcome.change.key for outcome in plan.outcomes]
        # A deal is known by its deal id, a package by its number.
        id_of_key = {
            key: str((isinstance(entity, DemandDeal) and entity.deal_id) or entity.id)
            for key, entity in zip(keys, plan.entities, strict=False)
        }
        return {"Id": [id_of_key.get(creation.key, "") for creation in creations]}

    return PlanSteps(prefix, columns, close, verb="Create", done="created", is_wide=True)


def _titles(titles: Iterable[str]) -> str:
    return ", ".join(f"**{plain(title)}**" for title in titles)


DEALS_HELP = f"""Each line is a deal of a package that exists.

- **Package**: its id or its name · **Seat**: its id, its name, or its id at the DSP · **Price**
- Optional: **Name** (else package and seat), {_titles(OPTIONAL)}; yes or no for what is switched

{csv_deals.NUMBER_HELP} Nothing is created unless every line is right."""
PACKAGES_HELP = f"""Each line is a package, with a deal if it has a seat; further lines of its name add deals.

- **Name** · **Media type** · **Start**, like 2026-11-30 or 2026-11-30 09:00
- Optional: **End**, **Time zone** (like Europe/Berlin or +01:00; else UTC), {_titles(SWITCHES)} (yes or no)
- Optional targeting: {_titles(kind.title for kind in TARGETS)}; several values with |
  between them, and *not* before one that is excluded: US|CA, or not Safari. A list by its id or its name
- Optional deal: {_titles(OF_DEALS)}

{csv_deals.NUMBER_HELP} Nothing is created unless every line is right."""
CREATIONS = {
    fields.SUPPLY: CsvKind(
        "packages_from_csv", "Create packages from a CSV", "packages.csv", SHAPE, PACKAGES_HELP,
        NOTHING_CREATED, partial(_begin, fields.SUPPLY), _steps,
    ),
    fields.DEALS: CsvKind(
        "deals_from_csv", "Create deals from a CSV", "deals.csv", csv_deals.SHAPE, DEALS_HELP,
        NOTHING_CREATED, partial(_begin, fields.DEALS), _steps,
    ),
}  # fmt: skip
"""The kinds of files by the entity of the list."""


def cell(creation: PlannedCreation, title: str, marks: Marks) -> str:
    """What the column of this title becomes; empty where it is not about this kind of entity.

    `marks` are those of targets that the report does not have.
    """
    if isinstance(creation.request, SupplyPackage):
        if (kind := KINDS_BY_TITLE.get(title)) is not None:
            labels = (  # `US, CA, not MX`
                ("not " if target.is_excluded else "")
                + value_label(kind.value(target), {}, marks.get(kind.name, {}))
                for target in kind.of(creation.request)
            )
            return ", ".join(labels)
        if title == "Time zone" and creation.request.start_date is not None:
            shift = creation.request.start_date.utcoffset()
            return field_text.offset(int(shift.total_seconds() // 60) if shift else 0)
        package_field = PACKAGE_FIELDS.get(title)
        return (
            ""
            if package_field is None
            else field_text.value(package_field.name, getattr(creation.request, package_field.name, None))
        )
    if title == "Package":
        return (creation.package and creation.package.name) or ""
    if title == "Seat":
        return seat_name(creation.seat, (creation.seat and creation.seat.id) or 0)
    is_of_deal = creation.package_line is None or title in OF_DEALS
    field = csv_deals.COLUMNS.get(OF_DEALS.get(title, title)) if is_of_deal else None
    if field is None:
        return ""
    # The value that is stored: what the file leaves empty as it is by default.
    value, default = getattr(creation.request, field.name, None), field.default
    if field.name == "price" and (currency := getattr(creation.request, "currency", None)):
        return f"{field_text.value(field.name, value)} {currency}"
    return field_text.value(field.name, default if value is None and isinstance(default, bool) else value)
