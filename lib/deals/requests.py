"""What a request to the deals service may hold: the fields of each entity that can be set.

The deals specification names the fields; which are required is our own choice. `GIVEN` are the fields of an
answer that a request can't set.
"""

from typing import Annotated, ClassVar

from pydantic import Field

from lib.deals.fields import Amount, ById, Domain, Email, FeeType, Moment, Name, Request, Value
from lib.deals.models import MediaType
from lib.deals.targeting import Lists, Places, Sizes, Values

MOST_DEALS = 500
MOST_ENTRIES = 20_000


class DemandDealOption(Request):
    """A demand deal to create."""

    seat: ById
    price: Amount
    deal_sync: bool = False


class Terms(Request):
    """What a demand deal has beside its price; in create_demand_deals once for all of its deals."""

    agency_curation_fee: Amount | None = None
    agency_curation_fee_type: FeeType | None = None
    contact_email: Email | None = None


class CreateDemandDeals(Terms):
    """Demand deals to create with a supply package."""

    demand_deals_options: Annotated[list[DemandDealOption], Field(min_length=1, max_length=MOST_DEALS)]


ALWAYS_GIVEN = frozenset({"id", "created_at", "updated_at"})


class SupplyPackage(Request):
    """Supply Package."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN | {"packages", "status"}

    name: Name
    media_type: MediaType
    start_date: Moment
    end_date: Moment | None = None
    is_active: bool = True
    is_dynamic_bidding: bool = False
    is_true_price_opt_enable: bool = False
    app_list_targetings: Lists = Field(default_factory=list)
    browser_targetings: Values = Field(default_factory=list)
    device_targetings: Values = Field(default_factory=list)
    domain_list_targetings: Lists = Field(default_factory=list)
    geo_targetings: Places = Field(default_factory=list)
    operating_system_targetings: Values = Field(default_factory=list)
    size_targetings: Sizes = Field(default_factory=list)
    demand_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = Field(default_factory=list)
    create_demand_deals: CreateDemandDeals | None = None


class DemandDeal(Terms):
    """Demand Deal."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN | {"deal_id", "dsp", "package", "status"}

    name: Name
    seat: ById
    price: Amount
    supply_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = Field(default_factory=list)
    deal_sync: bool = False
    is_active: bool = True


class SeatChoice(Request):
    """A seat of a package; only one whose `value` is true gets a demand deal."""

    value: bool
    seat: ById
    dsp: ById | None = None


class Package(Request):
    """Package (deprecated)."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN | {"demand_deals"}

    name: Name
    seats: Annotated[list[SeatChoice], Field(max_length=MOST_DEALS)] = Field(default_factory=list)
    supply_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = Field(default_factory=list)


class Seat(Request):
    """Seat."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    dsp: ById
    external_id: Value | None = None


class Dsp(Request):
    """DSP."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    supports_deal_sync: bool = False


class DomainList(Request):
    """Domain list."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    domains: Annotated[list[Domain], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)


class AppList(Request):
    """App list."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    apps: Annotated[list[Value], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)
