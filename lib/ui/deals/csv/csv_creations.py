"""Creating packages and deals by a CSV: what its lines ask for is checked, then created by a plan."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from lib.deals import fields
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.targeting.kinds import KINDS as TARGETS
from lib.figures.deals import deal_report, field_text, targeting_text
from lib.figures.deals.deal_names import KINDS, seat_name
from lib.figures.deals.targeting_text import Marks, value_label
from lib.ui.deals import catalog
from lib.ui.deals.changes.creation import CreationPlan, PlannedCreation
from lib.ui.deals.changes.plan import ChangePlan, PlannedChange, WholeSource
from lib.ui.deals.changes.plan_steps import Columns, PlanSteps
from lib.ui.deals.csv import csv_deals, csv_dialog, csv_packages
from lib.ui.deals.csv.csv_deals import CsvCheck, CsvSource
from lib.ui.deals.csv.csv_dialog import CsvKind
from lib.ui.deals.csv.csv_packages import DealCells
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.csv_text import CsvRow

OPTIONAL = [title for title in csv_deals.OPTIONAL if title != "Name"]
SWITCHES = [row.column for row in csv_packages.FIELDS if row.kind is fields.SWITCH]
NOTHING_CREATED = "Nothing was created."
KINDS_BY_TITLE = {kind.title: kind for kind in TARGETS}
PACKAGE_FIELDS = {field.column: field for field in csv_packages.FIELDS}


def draw(context: PageContext, entity: str) -> None:
    """Draw the button for who may create these entities, and the dialog while it is open."""
    if not catalog.abilities(context).why_not(entity, "create"):
        csv_dialog.draw(context, CREATIONS[entity], f"Create {KINDS[entity].lower()}s", "upload")


def creation_plan(
    context: PageContext, parts: Iterator[CsvCheck], rows: Sequence[CsvRow]
) -> ChangePlan[WholeSource]:
    """The creation of what the rows ask for, by the parts of their check, which are read next."""
    source = CsvSource(parts=parts, total=len(rows))
    record = context.clients.bulk_actions.record("Created from a CSV")
    return CreationPlan(source=source, record=record).begin()


def _begin(entity: str, context: PageContext, rows: Sequence[CsvRow]) -> ChangePlan[WholeSource]:
    """The creation of these rows, each a deal, or a package with its deals."""
    seats, does = catalog.seats(context), catalog.abilities(context)
    if entity == fields.DEALS:
        return creation_plan(context, csv_deals.check(context.deals, rows, seats, does.fees), rows)
    deals = DealCells(seats, does.fees, does.why_not(fields.DEALS, "create"))
    lists = catalog.named_lists(context)
    return creation_plan(context, csv_packages.check(context.deals, rows, lists, deals), rows)


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


OF_DEALS = f"""Each line is a deal of a package that exists.

- **Package**: its id or its name · **Seat**: its id, its name, or its id at the DSP · **Price**
- Optional: **Name** (else package and seat), {_titles(OPTIONAL)}; yes or no for what is switched

{csv_deals.NUMBER_HELP} Nothing is created unless every line is right."""
OF_PACKAGES = f"""Each line is a package, with a deal if it has a seat; further lines of its name add deals.

- **Name** · **Media type** · **Start**, like 2026-11-30 or 2026-11-30 09:00
- Optional: **End**, **Time zone** (like Europe/Berlin or +01:00; else UTC), {_titles(SWITCHES)} (yes or no)
- Optional targeting: {_titles(kind.title for kind in TARGETS)}; several values with |
  between them, and *not* before one that is excluded: US|CA, or not Safari. A list by its id or its name
- Optional deal: {_titles(csv_packages.OF_DEALS)}

{csv_deals.NUMBER_HELP} Nothing is created unless every line is right."""
CREATIONS = {
    fields.SUPPLY: CsvKind(
        "packages_from_csv", "Create packages from a CSV", "packages.csv", csv_packages.SHAPE, OF_PACKAGES,
        NOTHING_CREATED, partial(_begin, fields.SUPPLY), _steps,
    ),
    fields.DEALS: CsvKind(
        "deals_from_csv", "Create deals from a CSV", "deals.csv", csv_deals.SHAPE, OF_DEALS, NOTHING_CREATED,
        partial(_begin, fields.DEALS), _steps,
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
    is_of_deal = creation.package_line is None or title in csv_packages.OF_DEALS
    field = csv_deals.COLUMNS.get(csv_packages.OF_DEALS.get(title, title)) if is_of_deal else None
    if field is None:
        return ""
    # The value that is stored: what the file leaves empty as it is by default.
    value, default = getattr(creation.request, field.name, None), field.default
    if field.name == "price" and (currency := getattr(creation.request, "currency", None)):
        return f"{field_text.value(field.name, value)} {currency}"
    return field_text.value(field.name, default if value is None and isinstance(default, bool) else value)
