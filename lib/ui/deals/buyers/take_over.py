"""What a buyer answered as a source of the plan of changes: the deal's price and units, its package's days.

Nothing is sent where the deal has other terms by now than those that were answered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, ClassVar

from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.deals.negotiation import Negotiation
from lib.ui.deals.changes.confirmations import COMPARED
from lib.ui.deals.changes.plan import ChangeSource, PlannedChange
from lib.ui.deals.list.deal_rows import Key, title_of

DEAL_TERMS = ("price", "units", "currency")
OTHER_TERMS = "Its terms have changed since the buyer answered."
DAYS = (("first_day", "start_date", 0), ("last_day", "end_date", 1))
"""A term, the package's field, and the days added to it: ends are exclusive."""


@dataclass(kw_only=True)
class TakeOver(ChangeSource):
    """The buyer's last answer to a deal with these packages."""

    is_renewed: ClassVar[bool] = True
    negotiation: Negotiation

    @classmethod
    def of(
        cls, negotiation: Negotiation, deal: DemandDeal, packages: Sequence[SupplyPackage]
    ) -> tuple["TakeOver", list[PlannedChange]]:
        """The source, and the changes that it asks for; none after a refusal."""
        source = cls(negotiation=negotiation)
        entities: list[PackageOrDeal] = [*packages, deal]
        changes = (
            change
            for entity in entities
            for change in source.changes(entity, (entity.entity, entity.id or 0), frozenset())
        )
        return source, [change for change in changes if change.after]

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        """What becomes of the deal or of its package."""
        after: dict[str, Any]
        refusal = ""
        if isinstance(entity, DemandDeal):
            after = {
                name: self.negotiation.changes[name]
                for name in DEAL_TERMS
                if name in self.negotiation.changes
            }
            terms = self.negotiation.terms
            # The currency of a deal without one is that of the terms, which are the deal's.
            has_others = any(
                getattr(entity, name) not in (getattr(terms, name), *([None] if name == "currency" else []))
                for name in after
            )
            refusal = OTHER_TERMS if has_others else ""
        else:
            zone = entity.start_date.tzinfo if entity.start_date else UTC
            after = {
                field: datetime.combine(self.negotiation.changes[term] + timedelta(days=later), time(), zone)
                for term, field, later in DAYS
                if term in self.negotiation.changes
            }
        others_of_deal = COMPARED if isinstance(entity, DemandDeal) else ()
        before = {name: getattr(entity, name) for name in (*after, *others_of_deal)}
        others = {
            deal.id: deal.name or f"Deal {deal.id}"
            for deal in (entity.demand_deals if isinstance(entity, SupplyPackage) else ())
        }
        yield PlannedChange(key, title_of(entity), before, after, entity.etag, refusal, others=others)
