"""Requests to the deals service: the fields of each entity that can be set.

The deals specification names the fields; which are required is our own choice. Plain fields come from
fields.py. `GIVEN` are the fields of an answer that a request can't set.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field, create_model

from lib.deals import fields, targeting
from lib.deals.values import Amount, ById, Domain, Name, Request, Value

MOST_DEALS = 500
MOST_ENTRIES = 20_000


def _not_given() -> Any:
    """An empty list is a way to get deals as well: beside create_demand_deals it is refused."""
    return None


class DemandDealOptionRequest(Request, title="DemandDealOption"):
    """A demand deal to create."""

    seat: ById
    price: Amount
    deal_sync: bool = False


def _plain(entity: str, *names: str) -> dict[str, Any]:
    """The plain fields of an entity that a request sets, as `create_model` takes them."""
    return {
        one.name: (one.given, ... if one.default is fields.REQUIRED else one.default)
        for one in fields.of(entity)
        if one.is_writable and (not names or one.name in names)
    }


def _request(title: str, base: type[Request], **more: Any) -> type[Request]:
    """`base` with these fields too."""
    return create_model(title, __base__=base, __doc__=base.__doc__, **more)


class _CreateDemandDeals(Request):
    """Demand deals to create with a supply package."""

    demand_deals_options: Annotated[list[DemandDealOptionRequest], Field(min_length=1, max_length=MOST_DEALS)]


CreateDemandDealsRequest = _request(
    "CreateDemandDeals",
    _CreateDemandDeals,
    **_plain(fields.DEALS, *fields.TERMS),
)
ALWAYS_GIVEN = frozenset({"id", "created_at", "updated_at"})


class _SupplyPackage(Request):
    """Supply Package."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN | {"packages"} | fields.read_only(fields.SUPPLY)


SupplyPackageRequest = _request(
    "SupplyPackage",
    _SupplyPackage,
    **_plain(fields.SUPPLY),
    **targeting.REQUESTS,
    demand_deals=(Annotated[list[ById], Field(max_length=MOST_DEALS, default_factory=_not_given)], ...),
    create_demand_deals=(CreateDemandDealsRequest | None, None),
)


class _DemandDeal(Request):
    """Demand Deal."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN | {"dsp", "package"} | fields.read_only(fields.DEALS)

    seat: ById
    supply_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = Field(default_factory=list)


DemandDealRequest = _request("DemandDeal", _DemandDeal, **_plain(fields.DEALS))


class SeatChoiceRequest(Request, title="SeatChoice"):
    """A seat of a package; only one whose `value` is true gets a demand deal."""

    value: bool
    seat: ById
    dsp: ById | None = None


class PackageRequest(Request, title="Package"):
    """Package (deprecated)."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN | {"demand_deals"}

    name: Name
    seats: Annotated[list[SeatChoiceRequest], Field(max_length=MOST_DEALS)] = Field(default_factory=list)
    supply_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = Field(default_factory=list)


class SeatRequest(Request, title="Seat"):
    """Seat."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    dsp: ById
    external_id: Value | None = None


class DspRequest(Request, title="Dsp"):
    """DSP."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    supports_deal_sync: bool = False


class DomainListRequest(Request, title="DomainList"):
    """Domain list."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    domains: Annotated[list[Domain], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)


class AppListRequest(Request, title="AppList"):
    """App list."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    apps: Annotated[list[Value], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)
