"""A package that is being set up: what the form says, and the request that it makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal

from lib.deals.models import CreateDemandDeals, DemandDealOption, Reference, SupplyPackage, Targeting

Deals = Literal["new", "existing", "none"]
NO_FEE = 4


@dataclass(frozen=True)
class Terms:
    """What a seat gets: a price, None while there is none, and whether its DSP is told."""

    price: Decimal | None = None
    deal_sync: bool = False


@dataclass(frozen=True)
class Draft:
    """The form's contents. `seats` are terms by the seat's id, `links` ids of demand deals.

    Which of the two counts says `deals`. `start` and `end` are times without a zone, `offset` is minutes
    east of UTC. The fee and the contact are those of all new deals.
    """

    name: str = ""
    media_type: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    offset: int = 0
    is_active: bool = True
    is_dynamic_bidding: bool = False
    is_true_price_opt_enable: bool = False
    targeting: Targeting = field(default_factory=Targeting)
    deals: Deals = "new"
    seats: Mapping[int, Terms] = field(default_factory=dict)
    fee_type: int | None = None
    fee: Decimal | None = None
    contact_email: str = ""
    links: tuple[int, ...] = ()

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was entered that would be lost."""
        empty = not (self.name.strip() or self.seats or self.links or self.contact_email.strip())
        return empty and self.targeting == Targeting()

    def package(self) -> SupplyPackage:
        """The package to ask for, as it stands: what is missing is for the service to say."""
        fields: dict[str, Any] = {
            "name": self.name,
            "media_type": self.media_type,
            "start_date": self.moment(self.start),
            "end_date": self.moment(self.end),
            "is_active": self.is_active,
            "is_dynamic_bidding": self.is_dynamic_bidding,
            "is_true_price_opt_enable": self.is_true_price_opt_enable,
            **{name: getattr(self.targeting, name) for name in Targeting.model_fields},
        }
        if self.deals == "new":
            fields["create_demand_deals"] = self._new_deals()
        elif self.deals == "existing":
            fields["demand_deals"] = tuple(Reference(id=deal) for deal in self.links)
        given = {name: value for name, value in fields.items() if value not in (None, ())}
        return SupplyPackage.model_construct(**given)

    def moment(self, local: datetime | None) -> datetime | None:
        """A time of the form with its offset."""
        return None if local is None else local.replace(tzinfo=timezone(timedelta(minutes=self.offset)))

    def _new_deals(self) -> CreateDemandDeals:
        options = tuple(_option(seat, terms) for seat, terms in self.seats.items())
        fields: dict[str, Any] = {"demand_deals_options": options}
        if self.fee_type is not None:
            fields["agency_curation_fee_type"] = self.fee_type
            if self.fee_type != NO_FEE and self.fee is not None:
                fields["agency_curation_fee"] = self.fee
        if self.contact_email.strip():
            fields["contact_email"] = self.contact_email
        return CreateDemandDeals.model_construct(**fields)


def _option(seat: int, terms: Terms) -> DemandDealOption:
    fields: dict[str, Any] = {"seat": Reference(id=seat), "deal_sync": terms.deal_sync}
    if terms.price is not None:
        fields["price"] = terms.price
    return DemandDealOption.model_construct(**fields)
