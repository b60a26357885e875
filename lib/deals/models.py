"""The nouns of the deals API, as they travel.

Names and types are those of the deals specification ("Resources and their fields"); what it leaves open
(targeting elements, seats, lists, prices) is our own choice. An answer may lack any field but its id, and
may carry others, which are kept: another service is free in both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from lib.deals import moments

MediaType = Literal["banner", "video", "audio", "native"]
GeoType = Literal["country", "region", "city", "dma", "zip"]
Status = Literal["pending", "active", "paused", "complete"]
PriceType = Literal["floor", "fixed"]
DealType = Literal["private_auction", "preferred", "guaranteed"]
DeliverySpeed = Literal["even", "fast"]
Action = Literal["created", "changed", "removed"]
BuyerState = Literal[
    "pending approval", "approved", "rejected", "ready to serve", "active", "paused", "complete"
]
HealthState = Literal["attention", "unknown", "idle", "healthy"]
MEDIA_TYPES: tuple[MediaType, ...] = get_args(MediaType)
GEO_TYPES: tuple[GeoType, ...] = get_args(GeoType)
STATUSES: tuple[Status, ...] = get_args(Status)
HEALTH_STATES: tuple[HealthState, ...] = get_args(HealthState)
ACTIONS: tuple[Action, ...] = get_args(Action)
PRICE_TYPES: dict[PriceType, str] = {"floor": "floor price", "fixed": "fixed price"}
DEAL_TYPES: dict[DealType, str] = {
    "private_auction": "private auction",
    "preferred": "preferred deal",
    "guaranteed": "programmatic guaranteed",
}
DELIVERY_SPEEDS: dict[DeliverySpeed, str] = {"even": "evenly", "fast": "as fast as possible"}
BUYER_STATUS: tuple[BuyerState, ...] = get_args(BuyerState)
"""The words for a status in the buyer's system, each at its number (Deal Sync API 1.0, BuyerStatus)."""
LONGEST_NAME = 200
UNDISCLOSED, PERCENT, FLAT, CPM, NO_FEE = range(5)
GUARANTEED: DealType = "guaranteed"
FIXED_PRICE_TYPES: tuple[DealType, ...] = (GUARANTEED, "preferred")
"""The types of deals whose price is fixed, whatever price type is set: a guarantee is no floor."""
FEE_TYPES = {
    UNDISCLOSED: "undisclosed",
    PERCENT: "percent of spend",
    FLAT: "flat",
    CPM: "CPM",
    NO_FEE: "none",
}


def _moment(value: Any) -> Any:
    return moments.read(value) if isinstance(value, str) else value


Moment = Annotated[datetime, BeforeValidator(_moment), PlainSerializer(moments.write)]


def price_type_of(deal_type: str | None, price_type: str | None, usual: str = "") -> str:
    """What the price of a deal is, floor or fixed; `usual` where neither its type nor somebody says it."""
    return "fixed" if deal_type in FIXED_PRICE_TYPES else price_type or usual


def has_amount(fee_type: int | None) -> bool:
    """Whether a fee of this type has an amount: not without a type, and not where it is none."""
    return fee_type not in (None, NO_FEE)


def generated_name(package: str, seat: str) -> str:
    """The name of a deal created for a seat: `Morning News - Bluebird`.

    The names are shortened where the whole would be longer than a name may be.
    """
    whole = f"{package} - {seat}"
    if len(whole) <= LONGEST_NAME:
        return whole
    short = shorten(seat, max(LONGEST_NAME // 2, LONGEST_NAME - len(package) - 3))
    return f"{shorten(package, LONGEST_NAME - len(short) - 3)} - {short}"


def shorten(text: str, longest: int) -> str:
    """The text, cut with an ellipsis where it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


class WireModel(BaseModel):
    """Something that travels. Frozen; fields that we don't know are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    def body(self) -> dict[str, Any]:
        """As a request carries it: what was set, and nothing that has no value."""
        return {
            name: value for name, value in self.model_dump(exclude_unset=True).items() if value is not None
        }


class Reference(WireModel):
    """Another entity, by its id; an answer tells the name too."""

    id: int
    name: str | None = None


class GeoTarget(WireModel):
    """A place that is meant, or excluded."""

    type: str
    value: str
    is_excluded: bool = False


class ValueTarget(WireModel):
    """A browser, a device or an operating system that is meant, or excluded."""

    value: str
    is_excluded: bool = False


class SizeTarget(WireModel):
    """A size in pixels that is meant, or excluded."""

    width: int
    height: int
    is_excluded: bool = False


class ListTarget(WireModel):
    """A list of domains or apps that is meant, or excluded."""

    id: int
    name: str | None = None
    is_excluded: bool = False


class Targeting(WireModel):
    """The targeting of a supply package: any of a kind, all of the kinds; an exclusion wins.

    Empty means everything. Values are those of the report's key fields.
    """

    app_list_targetings: tuple[ListTarget, ...] = ()
    browser_targetings: tuple[ValueTarget, ...] = ()
    device_targetings: tuple[ValueTarget, ...] = ()
    domain_list_targetings: tuple[ListTarget, ...] = ()
    geo_targetings: tuple[GeoTarget, ...] = ()
    operating_system_targetings: tuple[ValueTarget, ...] = ()
    size_targetings: tuple[SizeTarget, ...] = ()


TARGETING_ELEMENTS: dict[str, type[WireModel]] = {
    name: get_args(field.annotation)[0] for name, field in Targeting.model_fields.items()
}


@dataclass(frozen=True)
class Origin:
    """Facts about a resource's answer beside its fields; see the properties of Resource."""

    etag: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    unread: Mapping[str, Any] = field(default_factory=dict)
    as_of: datetime | None = None


class Resource(WireModel):
    """An entity with an address of its own, `/api/<entity>/<id>/`."""

    entity: ClassVar[str]
    noun: ClassVar[str]

    id: int | None = None
    name: str | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = None
    _origin: ClassVar[Origin] = Origin()

    def known_as(self, **origin: Any) -> Self:
        """The same resource with these fields of its origin."""
        copy = self.model_copy()
        # Past pydantic: a private attribute costs every model of a list more than its validation.
        object.__setattr__(copy, "_origin", replace(self._origin, **origin))
        return copy

    @property
    def etag(self) -> str | None:
        """Names this state in If-Match; None when it came in a list, or from a service without ETags."""
        return self._origin.etag

    @property
    def raw(self) -> Mapping[str, Any]:
        """The answer's JSON as it came; empty when it came in a list."""
        return self._origin.raw

    @property
    def as_of(self) -> datetime | None:
        """Since when it is remembered so, where the service does not show it; None where it was read."""
        return self._origin.as_of

    @property
    def unread(self) -> Mapping[str, Any]:
        """Unreadable parts as received: whole fields, and elements of lists, by field."""
        return self._origin.unread


class Dsp(Resource):
    """A demand-side platform."""

    entity: ClassVar[str] = "dsps"
    noun: ClassVar[str] = "DSP"

    supports_deal_sync: bool | None = None


class Seat(Resource):
    """A buyer's seat at a DSP; `external_id` is how the DSP calls it."""

    entity: ClassVar[str] = "seats"
    noun: ClassVar[str] = "seat"

    external_id: str | None = None
    dsp: Dsp | None = None


class DomainList(Resource):
    """Site domains under one name."""

    entity: ClassVar[str] = "domain_lists"
    noun: ClassVar[str] = "domain list"

    domains: tuple[str, ...] = ()


class AppList(Resource):
    """App bundles under one name."""

    entity: ClassVar[str] = "app_lists"
    noun: ClassVar[str] = "app list"

    apps: tuple[str, ...] = ()


class DealTerms(WireModel):
    """What a deal's buyer and seller agree on beside seat, price and dates; see lib/deals/fields.py."""

    agency_curation_fee: Decimal | None = None
    agency_curation_fee_type: int | None = None
    contact_email: str | None = None
    price_type: str | None = None
    currency: str | None = None
    deal_type: str | None = None
    units: Decimal | None = None
    pacing: str | None = None
    budget: Decimal | None = None
    frequency_cap: Decimal | None = None
    viewability_goal: Decimal | None = None
    block_override: bool | None = None
    priority: Decimal | None = None
    house_code: str | None = None
    audience_segments: str | None = None
    buyer_note: str | None = None


class DemandDealOption(DealTerms):
    """One demand deal to create: for which seat, at which price, and the terms that it has of its own.

    Own terms, and `is_active`, are an extension: they are instead of those that the new deals share.
    """

    seat: Reference
    price: Decimal
    deal_sync: bool = False
    is_active: bool = True


class CreateDemandDeals(DealTerms):
    """Demand deals to create with a supply package, one for each option; the terms are those of them all."""

    demand_deals_options: tuple[DemandDealOption, ...]


class SupplyPackage(Resource, Targeting):
    """A supply package (path name `supply_deals`): what is sold, from when to when."""

    entity: ClassVar[str] = "supply_deals"
    noun: ClassVar[str] = "supply package"

    is_active: bool | None = None
    is_dynamic_bidding: bool | None = None
    is_true_price_opt_enable: bool | None = None
    media_type: str | None = None
    start_date: Moment | None = None
    end_date: Moment | None = None
    create_demand_deals: CreateDemandDeals | None = None
    demand_deals: tuple[Reference, ...] = ()
    packages: tuple[Reference, ...] = ()
    status: str | None = None


class DemandDeal(Resource, DealTerms):
    """A demand deal: one seat's access to supply packages, at a price."""

    entity: ClassVar[str] = "demand_deals"
    noun: ClassVar[str] = "demand deal"

    deal_id: str | None = None
    seat: Seat | None = None
    dsp: Dsp | None = None
    supply_deals: tuple[SupplyPackage, ...] = ()
    package: Reference | None = None
    price: Decimal | None = None
    deal_sync: bool | None = None
    is_active: bool | None = None
    status: str | None = None
    buyer_status: str | None = None


PackageOrDeal = SupplyPackage | DemandDeal


class SeatChoice(WireModel):
    """A seat of a legacy package; only those whose `value` is true get a demand deal."""

    value: bool
    seat: Seat
    dsp: Dsp | None = None


class Package(Resource):
    """The deprecated middle layer, which generates one demand deal for each selected seat."""

    entity: ClassVar[str] = "packages"
    noun: ClassVar[str] = "package"

    seats: tuple[SeatChoice, ...] = ()
    supply_deals: tuple[SupplyPackage, ...] = ()
    demand_deals: tuple[DemandDeal, ...] = ()


class EntityChange(WireModel):
    """One change of one entity: who, when, and the fields that it touched, before and after.

    `token` is the name of the permanent token through which it came; None where a person made it.
    Nothing was before a creation, and nothing is after a removal. *Extension of ours.*
    """

    id: int
    at: Moment
    who: str
    token: str | None = None
    action: Annotated[str, Field(json_schema_extra={"enum": [*ACTIONS]})]
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


class StatusReport(WireModel):
    """When a status was reported, with which token, and why."""

    reported_at: datetime | None = None
    reported_by: str | None = None
    reason: str | None = None


class BuyerStatus(WireModel):
    """The status at a seat, by the seat's id at the DSP."""

    buyerseatid: str | None = None
    status: int
    ext: StatusReport = StatusReport()

    @property
    def words(self) -> str:
        has_words = 0 <= self.status < len(BUYER_STATUS)
        return BUYER_STATUS[self.status] if has_words else f"status {self.status}"


class Delivery(WireModel):
    """When the deal's document was fetched last, and with which token; and when it was sent to the DSP.

    Where it could not be sent, `problem` says why, and `next_try` when it is sent again.
    """

    fetched_at: datetime | None = None
    fetched_by: str | None = None
    sent_at: datetime | None = None
    problem: str | None = None
    next_try: datetime | None = None


class BuyerSeat(WireModel):
    """What the DSP reported of a deal: nothing yet where `buyerstatus` is empty."""

    id: str
    buyerstatus: tuple[BuyerStatus, ...] = ()
    ext: Delivery = Delivery()


ENTITIES: dict[str, type[Resource]] = {
    model.entity: model for model in (SupplyPackage, DemandDeal, Package, Seat, Dsp, DomainList, AppList)
}
