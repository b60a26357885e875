"""What a column of a CSV file becomes in the package or deal that is created: the cells of the preview."""

from lib.deals.fields import BY_NAME, DealField
from lib.deals.models import SupplyPackage
from lib.insight.kinds import KINDS, TargetingKind
from lib.ui.deals import facts
from lib.ui.deals.changes.creation import PlannedCreation
from lib.ui.deals.csv import csv_deals, csv_packages
from lib.ui.deals.forms.draft import seat_name
from lib.ui.deals.targeting.words import Marks, value_label

KINDS_BY_TITLE = {kind.title: kind for kind in KINDS}
PACKAGE_FIELDS = {field.column: field for field in csv_packages.FIELDS}


def cell(creation: PlannedCreation, title: str, marks: Marks) -> str:
    """What the column of this title becomes; empty where it is not about this kind of entity.

    `marks` are those of targets that the report does not have.
    """
    if isinstance(creation.request, SupplyPackage):
        return _of_package(creation.request, title, marks)
    if title == "Package":
        return (creation.package and creation.package.name) or ""
    if title == "Seat":
        return seat_name(creation.seat, (creation.seat and creation.seat.id) or 0)
    is_of_deal = creation.package_line is None or title in csv_packages.OF_DEALS
    field = csv_deals.COLUMNS.get(csv_packages.OF_DEALS.get(title, title)) if is_of_deal else None
    return "" if field is None else _value(creation, field)


def _of_package(package: SupplyPackage, title: str, marks: Marks) -> str:
    if title in KINDS_BY_TITLE:
        return _targets(package, KINDS_BY_TITLE[title], marks)
    if title == "Time zone" and package.start_date is not None:
        shift = package.start_date.utcoffset()
        return facts.offset(int(shift.total_seconds() // 60) if shift else 0)
    field = PACKAGE_FIELDS.get(title)
    return "" if field is None else facts.value(field.name, getattr(package, field.name, None))


def _targets(package: SupplyPackage, kind: TargetingKind, marks: Marks) -> str:
    """`US, CA, not MX`."""
    return ", ".join(
        ("not " if target.is_excluded else "") + value_label(kind.value(target), {}, marks.get(kind.name, {}))
        for target in kind.of(package)
    )


def _value(creation: PlannedCreation, field: DealField) -> str:
    """The value that is stored: what the file leaves empty as it is by default."""
    value = getattr(creation.request, field.name, None)
    default = BY_NAME[field.name].default
    if field.name == "price" and (currency := getattr(creation.request, "currency", None)):
        return f"{facts.value(field.name, value)} {currency}"
    return facts.value(field.name, default if value is None and isinstance(default, bool) else value)
