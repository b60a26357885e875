"""An edit and somebody else's changes: the fields to send, and the merge of both."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lib.deals import fields
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.deals.targeting.kinds import elements

Fields = dict[str, Any]
FEE_TYPE = "agency_curation_fee_type"
CHOICES = tuple(
    field.name
    for field in fields.FIELDS
    if field.is_writable
    and (field.kind is fields.SWITCH or (field.kind.choices and field.default is not None))
)


@dataclass(frozen=True)
class Meeting:
    """A field that somebody else changed while it was being edited. `mine` says whether I changed it too."""

    field: str
    before: Any
    theirs: Any
    mine: Any
    is_mine: bool


def of_package(package: SupplyPackage) -> Fields:
    """The fields of a package that can be changed, as in a PUT request."""
    values = {
        **{name: getattr(package, name) for name in fields.writable(SUPPLY)},
        **elements(package),
        "demand_deals": [{"id": deal.id} for deal in sorted(package.demand_deals, key=lambda deal: deal.id)],
    }
    return _readable_fields(package, values)


def of_deal(deal: DemandDeal) -> Fields:
    """The fields of a deal that can be changed, as in a PUT request."""
    packages = sorted(package.id for package in deal.supply_deals if package.id is not None)
    values = {
        **{name: getattr(deal, name) for name in fields.writable(DEALS)},
        "seat": {"id": deal.seat.id if deal.seat else None},
        "supply_deals": [{"id": number} for number in packages],
    }
    if FEE_TYPE in deal.unread:
        del values["agency_curation_fee"]
    return _readable_fields(deal, values)


def of(entity: PackageOrDeal) -> Fields:
    """The fields that can be changed."""
    return of_package(entity) if isinstance(entity, SupplyPackage) else of_deal(entity)


def edited_fields(base: Mapping[str, Any], mine: Mapping[str, Any]) -> Fields:
    """The edited fields, the only ones to send; none that `base` does not have."""
    return {name: value for name, value in mine.items() if name in base and not same(value, base.get(name))}


def merge(
    base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> tuple[Fields, list[Meeting]]:
    """The merged fields (my edits, otherwise the current values), and what somebody else changed."""
    edits = edited_fields(base, mine)
    values = {name: edits.get(name, value) if name in edits else value for name, value in theirs.items()}
    meetings = [
        Meeting(name, base.get(name), value, edits.get(name), name in edits)
        for name, value in theirs.items()
        if not same(value, base.get(name))
    ]
    return values, meetings


def _readable_fields(entity: PackageOrDeal, values: Fields) -> Fields:
    """The fields without unreadable ones, and without those that the service does not return.

    A text, a number or a time that is not told may be set; a switch, a choice or a list may not.
    """
    returned_names = entity.model_fields_set
    unread = {name for name, part in entity.unread.items() if not isinstance(part, list)}
    missing = {name for name in CHOICES if name in values and values[name] is None}
    missing |= {
        name for name, value in values.items() if isinstance(value, list) and name not in returned_names
    }
    missing |= {
        field.name for field in fields.FIELDS if field.is_extension and field.name not in returned_names
    }
    return {name: value for name, value in values.items() if name not in unread | missing}


def same(value: Any, other: Any) -> bool:
    """Whether two values are equal in a form, where empty text and None are the same."""
    return value == other or (value in (None, "") and other in (None, ""))
