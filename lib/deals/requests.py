"""What a request to the deals service may hold: the fields that can be set, strictly.

The deals specification names the fields; which are required, and every limit here, is our own choice.
`GIVEN` are the fields of an answer that a request can't set.
"""

import re
import unicodedata
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)

from lib.deals import moments
from lib.deals.models import FEE_TYPES, GeoType, MediaType

LARGEST_ID = 2**53 - 1
LARGEST_AMOUNT = 10**12
DECIMALS = 6
MOST_TARGETS = 1_000
MOST_DEALS = 500
MOST_ENTRIES = 20_000
_EMAIL = r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$"
_DOMAIN = r"^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}$"


def _readable(text: str) -> str:
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in text):
        raise ValueError("may not have control characters in it")
    return text


def _whole(value: Any) -> Any:
    """`1.0` is a whole number too."""
    if isinstance(value, Decimal) and value.adjusted() < 20 and value == int(value):
        return int(value)
    return value


def _amount(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")
    if not 0 <= value < LARGEST_AMOUNT:
        raise ValueError(f"must be at least 0 and below {LARGEST_AMOUNT:,}")
    amount = Decimal(value)
    if _decimals(amount) > DECIMALS:
        raise ValueError(f"may have at most {DECIMALS} decimals")
    return amount


def _decimals(amount: Decimal) -> int:
    """How many digits after the point are needed to write it."""
    _, digits, exponent = amount.as_tuple()
    trailing = len(digits) - len(bytes(digits).rstrip(b"\0"))
    return -(int(exponent) + trailing) if amount else 0


def _moment(value: Any) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"must be text like '{moments.SHAPE}'")
    return moments.parse(value)


def _matching(pattern: str, what: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {what}")
        return text

    return AfterValidator(check)


def _text(longest: int) -> Any:
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=longest)


Name = Annotated[str, _text(200), AfterValidator(_readable)]
Value = Annotated[str, _text(200), AfterValidator(_readable)]
Id = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=LARGEST_ID)]
Pixels = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=20_000)]
FeeType = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=max(FEE_TYPES))]
Amount = Annotated[
    Decimal,
    PlainValidator(_amount),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": LARGEST_AMOUNT}),
]
Moment = Annotated[
    datetime,
    PlainValidator(_moment),
    WithJsonSchema({"type": "string", "pattern": moments.PATTERN, "example": "2026-11-20 09:00:00+0100"}),
]
Email = Annotated[
    str,
    _text(254),
    AfterValidator(_readable),
    _matching(_EMAIL, "an e-mail address"),
    Field(json_schema_extra={"format": "email"}),
]
Domain = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True),
    _matching(_DOMAIN, "a domain like example.org"),
]


class Request(BaseModel):
    """Fields that can be set; anything else is refused by name."""

    model_config = ConfigDict(extra="forbid")
    GIVEN: ClassVar[frozenset[str]] = frozenset()


class ById(Request):
    """Another entity, by its id; a name beside it is not read."""

    id: Id
    name: str | None = None


class GeoTarget(Request):
    """A place."""

    type: GeoType
    value: Value
    is_excluded: bool = False


class ValueTarget(Request):
    """A value of a key field."""

    value: Value
    is_excluded: bool = False


class SizeTarget(Request):
    """A size in pixels."""

    width: Pixels
    height: Pixels
    is_excluded: bool = False


class ListTarget(Request):
    """A list of domains or apps, by its id."""

    id: Id
    name: str | None = None
    is_excluded: bool = False


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


Values = Annotated[list[ValueTarget], Field(max_length=MOST_TARGETS)]
Lists = Annotated[list[ListTarget], Field(max_length=MOST_TARGETS)]
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
    app_list_targetings: Lists = []
    browser_targetings: Values = []
    device_targetings: Values = []
    domain_list_targetings: Lists = []
    geo_targetings: Annotated[list[GeoTarget], Field(max_length=MOST_TARGETS)] = []
    operating_system_targetings: Values = []
    size_targetings: Annotated[list[SizeTarget], Field(max_length=MOST_TARGETS)] = []
    demand_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = []
    create_demand_deals: CreateDemandDeals | None = None


class DemandDeal(Terms):
    """Demand Deal."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN | {"deal_id", "dsp", "package", "status"}

    name: Name
    seat: ById
    price: Amount
    supply_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = []
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
    seats: Annotated[list[SeatChoice], Field(max_length=MOST_DEALS)] = []
    supply_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = []


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
    domains: Annotated[list[Domain], Field(max_length=MOST_ENTRIES)] = []


class AppList(Request):
    """App list."""

    GIVEN: ClassVar[frozenset[str]] = ALWAYS_GIVEN

    name: Name
    apps: Annotated[list[Value], Field(max_length=MOST_ENTRIES)] = []
