"""A package that is being set up: what the form says, and the request that it makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Literal

from lib.deals.models import (
    CreateDemandDeals,
    DemandDealOption,
    Reference,
    SupplyPackage,
    Targeting,
    has_amount,
)
from lib.ui.kit import amounts, times

Deals = Literal["new", "existing", "none"]


@dataclass(frozen=True)
class OwnTerms:
    """The terms of a copied deal that differ from the other new deals'. The fee is as typed."""

    is_active: bool = True
    fee_type: int | None = None
    fee: str = ""
    contact_email: str = ""


@dataclass(frozen=True)
class Terms:
    """The terms for a seat: the price as typed, deal sync, and its own terms, if any."""

    price: str = ""
    deal_sync: bool = False
    own: OwnTerms | None = None

    @property
    def amount(self) -> Decimal | None:
        """The price; None without a readable one."""
        return number(self.price)


@dataclass(frozen=True)
class Draft:
    """The form's contents, numbers and times as they were typed.

    `seats` are terms by the seat's id, `links` ids of demand deals; which of the two counts says `deals`.
    `start` and `end` are times without a zone, `offset` is minutes east of UTC. The fee and the contact are
    those of all new deals without terms of their own. `pending` are values typed for the targeting that were
    neither added nor left out (ui/targeting/typed.py): nothing is created before they are.
    """

    name: str = ""
    media_type: str | None = None
    start: str = ""
    end: str = ""
    offset: int = 0
    is_active: bool = True
    is_dynamic_bidding: bool = False
    is_true_price_opt_enable: bool = False
    targeting: Targeting = field(default_factory=Targeting)
    deals: Deals = "new"
    seats: Mapping[int, Terms] = field(default_factory=dict)
    fee_type: int | None = None
    fee: str = ""
    contact_email: str = ""
    links: tuple[int, ...] = ()
    pending: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was entered that would be lost."""
        texts = (self.name, self.end, self.fee, self.contact_email)
        chosen = self.seats or self.links or self.pending or self.targeting != Targeting()
        return not (chosen or any(map(str.strip, texts)))

    @property
    def has_fee(self) -> bool:
        """Whether the amount of the fee counts."""
        return has_amount(self.fee_type)

    def package(self) -> SupplyPackage:
        """The package to create. What is missing or can't be read is left out."""
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

    def moment(self, text: str) -> datetime | None:
        """A time of the form with its offset; None without a readable one."""
        try:
            local = times.read(text)
        except ValueError:
            return None
        return None if local is None else local.replace(tzinfo=timezone(timedelta(minutes=self.offset)))

    def _new_deals(self) -> CreateDemandDeals:
        options = tuple(_option(seat, terms) for seat, terms in self.seats.items())
        fields: dict[str, Any] = {"demand_deals_options": options}
        if self.fee_type is not None:
            fields["agency_curation_fee_type"] = self.fee_type
            if self.has_fee and (fee := number(self.fee)) is not None:
                fields["agency_curation_fee"] = fee
        if self.contact_email.strip():
            fields["contact_email"] = self.contact_email
        return CreateDemandDeals.model_construct(**fields)


def number(text: str) -> Decimal | None:
    """A typed number; None without a readable one."""
    try:
        return amounts.read(text)
    except ValueError:
        return None


def _option(seat: int, terms: Terms) -> DemandDealOption:
    fields: dict[str, Any] = {"seat": Reference(id=seat), "deal_sync": terms.deal_sync}
    if terms.amount is not None:
        fields["price"] = terms.amount
    return DemandDealOption.model_construct(**fields)
