"""An edit, and what somebody else changed meanwhile: what is sent, and how the two are put together."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.ui.targeting.kinds import elements

Fields = dict[str, Any]
PACKAGE = ("name", "media_type", "start_date", "end_date", "is_active", "is_dynamic_bidding",
           "is_true_price_opt_enable")  # fmt: skip
DEAL = ("name", "price", "deal_sync", "is_active", "agency_curation_fee", "agency_curation_fee_type",
        "contact_email")  # fmt: skip


@dataclass(frozen=True)
class Meeting:
    """A field that somebody else changed while it was being edited. `mine` says whether I changed it too."""

    field: str
    before: Any
    theirs: Any
    mine: Any
    is_mine: bool


def of_package(package: SupplyPackage) -> Fields:
    """What of a package can be changed, as a PUT carries it."""
    return {
        **{name: getattr(package, name) for name in PACKAGE},
        **elements(package),
        "demand_deals": [{"id": one.id} for one in sorted(package.demand_deals, key=lambda one: one.id)],
    }


def of_deal(deal: DemandDeal) -> Fields:
    """What of a deal can be changed, as a PUT carries it."""
    packages = sorted(one.id for one in deal.supply_deals if one.id is not None)
    return {
        **{name: getattr(deal, name) for name in DEAL},
        "seat": {"id": deal.seat.id if deal.seat else None},
        "supply_deals": [{"id": one} for one in packages],
    }


def of(entity: SupplyPackage | DemandDeal) -> Fields:
    """What can be changed."""
    return of_package(entity) if isinstance(entity, SupplyPackage) else of_deal(entity)


def changed(base: Mapping[str, Any], mine: Mapping[str, Any]) -> Fields:
    """The fields that were edited: only they are sent."""
    return {name: value for name, value in mine.items() if not _same(value, base.get(name))}


def merged(
    base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> tuple[Fields, list[Meeting]]:
    """What the form shows after a meeting: my edits, and else what is there now; and who met where."""
    edited = changed(base, mine)
    together = {name: edited.get(name, value) if name in edited else value for name, value in theirs.items()}
    meetings = [
        Meeting(name, base.get(name), value, edited.get(name), name in edited)
        for name, value in theirs.items()
        if not _same(value, base.get(name))
    ]
    return together, meetings


def targeting(fields: Mapping[str, Any]) -> Targeting:
    """The targeting among a package's fields."""
    return Targeting.model_validate({name: fields[name] for name in Targeting.model_fields})


def number(given: float | None) -> Decimal | None:
    """What a number widget holds, exactly as it was typed."""
    return None if given is None else Decimal(str(given))


def _same(one: Any, other: Any) -> bool:
    """Equal; empty text and nothing are the same to a form."""
    return one == other or (one in (None, "") and other in (None, ""))
