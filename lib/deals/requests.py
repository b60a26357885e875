"""Bodies of the deals service: the fields of each entity that requests can set, and schemas of answers.

The deals specification names the fields; which are required is our own choice. Plain fields come from
fields.py. `READ_ONLY` are the fields of an answer that a request can't set.

The elements of a targeting in requests and answers (decisions: Targeting elements).

What an element consists of is said once, by the models; here are the limits of each of its fields.
"""

from collections.abc import Mapping
from types import GenericAlias
from typing import Annotated, Any, ClassVar, get_args

from pydantic import Field, create_model

from lib.deals import fields
from lib.deals.fields import MOMENT, STATUS, FieldKind
from lib.deals.models import ACTIONS, GeoType, Targeting, WireModel
from lib.deals.values import Amount, ById, Domain, Id, Name, Pixels, Request, Unread, Value
from lib.wire.schemas import FLAG, NO_TEXT, TEXT, Schema, a_list, an_object

MOST_TARGETS = 1_000
WHOLE: Schema = {"type": "integer", "minimum": 1}
KINDS = {
    "id": FieldKind(Id, WHOLE),
    "name": FieldKind(Unread | None, TEXT),
    "type": FieldKind(GeoType, TEXT),
    "value": FieldKind(Value, TEXT),
    "width": FieldKind(Pixels, WHOLE),
    "height": FieldKind(Pixels, WHOLE),
    "is_excluded": FieldKind(bool, FLAG),
}
ELEMENTS: dict[str, type[WireModel]] = {
    name: get_args(field.annotation)[0] for name, field in Targeting.model_fields.items()
}
TARGETING_ANSWERS: dict[str, Schema] = {
    name: a_list(an_object({field: KINDS[field].answer for field in model.model_fields}))
    for name, model in ELEMENTS.items()
}
MOST_DEALS = 500
MOST_ENTRIES = 20_000
ALWAYS_READ_ONLY = frozenset({"id", "created_at", "updated_at"})
ID: Schema = {"type": "integer", "minimum": 1}
TIME = MOMENT.answer
STAMPS = {"created_at": TIME, "updated_at": TIME}
REFERENCE = an_object({"id": ID, "name": TEXT})
DSP = an_object({"id": ID, "name": TEXT, "supports_deal_sync": FLAG})
SEAT = an_object({"id": ID, "name": TEXT, "external_id": NO_TEXT, "dsp": DSP})
ID_AND_NAME = {"id": ID, "name": TEXT}
WARNING_LIST = a_list(TEXT) | {
    "description": "What is valid and probably a slip, in sentences; left out without any. An extension."
}
CHANGED_ONE = an_object(
    {"id": ID, "status": {"type": "integer", "description": "204, or the code that it would answer alone"}},
    {"error": {"type": "object", "description": "The body of that refusal"}, "warnings": WARNING_LIST},
)
ABOUT_COUNTS = "Filter → value → how many; only where `counts` asks for it. An extension."
FIELDS: Schema = {"type": ["object", "null"]}
CHANGE = an_object(
    {"id": ID, "at": TIME, "who": TEXT, "action": {"enum": [*ACTIONS]}, "before": FIELDS, "after": FIELDS}
)


def _element(model: type[WireModel]) -> type[Request]:
    """An element of a request: the model's fields and defaults, each within its limits."""
    fields: Mapping[str, Any] = {
        name: (KINDS[name].request_type, ... if field.is_required() else field.default)
        for name, field in model.model_fields.items()
    }
    return create_model(model.__name__, __base__=Request, __doc__=model.__doc__, **fields)


_ELEMENTS = {model: _element(model) for model in ELEMENTS.values()}
REQUESTS: dict[str, Any] = {
    name: (GenericAlias(list, (_ELEMENTS[model],)), Field(max_length=MOST_TARGETS, default_factory=list))
    for name, model in ELEMENTS.items()
}


def _no_deals() -> Any:
    """An empty list is a way to get deals as well: beside create_demand_deals it is refused."""
    return None


def _plain(entity: str, *names: str) -> dict[str, Any]:
    """The plain fields of an entity that a request sets, as `create_model` takes them."""
    return {
        field.name: (field.request_type, ... if field.default is fields.REQUIRED else field.default)
        for field in fields.of(entity)
        if field.is_writable and (not names or field.name in names)
    }


class _DemandDealOption(Request):
    """A demand deal to create. Its own terms are instead of those that all share. (An extension.)"""

    seat: ById
    price: Amount
    deal_sync: bool = False
    is_active: bool = True


def _request(title: str, base: type[Request], **more: Any) -> type[Request]:
    """`base` with these fields too."""
    return create_model(title, __base__=base, __doc__=base.__doc__, **more)


DemandDealOptionRequest = _request(
    "DemandDealOption", _DemandDealOption, **_plain(fields.DEALS, *fields.TERMS)
)


class _CreateDemandDeals(Request):
    """Demand deals to create with a supply package."""


CreateDemandDealsRequest = _request(
    "CreateDemandDeals",
    _CreateDemandDeals,
    demand_deals_options=(
        GenericAlias(list, (DemandDealOptionRequest,)), Field(min_length=1, max_length=MOST_DEALS)
    ),
    **_plain(fields.DEALS, *fields.TERMS),
)  # fmt: skip


class _SupplyPackage(Request):
    """Supply Package."""

    READ_ONLY: ClassVar[frozenset[str]] = ALWAYS_READ_ONLY | {"packages"} | fields.read_only(fields.SUPPLY)


SupplyPackageRequest = _request(
    "SupplyPackage",
    _SupplyPackage,
    **_plain(fields.SUPPLY),
    **REQUESTS,
    demand_deals=(Annotated[list[ById], Field(max_length=MOST_DEALS, default_factory=_no_deals)], ...),
    create_demand_deals=(CreateDemandDealsRequest | None, None),
)


class _DemandDeal(Request):
    """Demand Deal."""

    READ_ONLY: ClassVar[frozenset[str]] = (
        ALWAYS_READ_ONLY | {"dsp", "package"} | fields.read_only(fields.DEALS)
    )

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

    READ_ONLY: ClassVar[frozenset[str]] = ALWAYS_READ_ONLY | {"demand_deals"}

    name: Name
    seats: Annotated[list[SeatChoiceRequest], Field(max_length=MOST_DEALS)] = Field(default_factory=list)
    supply_deals: Annotated[list[ById], Field(max_length=MOST_DEALS)] = Field(default_factory=list)


class SeatRequest(Request, title="Seat"):
    """Seat."""

    READ_ONLY: ClassVar[frozenset[str]] = ALWAYS_READ_ONLY

    name: Name
    dsp: ById
    external_id: Value | None = None


class DspRequest(Request, title="Dsp"):
    """DSP."""

    READ_ONLY: ClassVar[frozenset[str]] = ALWAYS_READ_ONLY

    name: Name
    supports_deal_sync: bool = False


class DomainListRequest(Request, title="DomainList"):
    """Domain list."""

    READ_ONLY: ClassVar[frozenset[str]] = ALWAYS_READ_ONLY

    name: Name
    domains: Annotated[list[Domain], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)


class AppListRequest(Request, title="AppList"):
    """App list."""

    READ_ONLY: ClassVar[frozenset[str]] = ALWAYS_READ_ONLY

    name: Name
    apps: Annotated[list[Value], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)


def _plain_answers(entity: str, *names: str) -> dict[str, Schema]:
    """The entity's plain fields; with `names` these alone."""
    return {field.name: field.answer for field in fields.of(entity) if not names or field.name in names}


IN_BRIEF = an_object(
    ID_AND_NAME | _plain_answers(fields.SUPPLY, "media_type", "is_active", "start_date", "end_date", "status")
)
ANSWERS: dict[str, Schema] = {
    fields.SUPPLY: an_object(
        ID_AND_NAME
        | _plain_answers(fields.SUPPLY)
        | TARGETING_ANSWERS
        | {"demand_deals": a_list(REFERENCE), "packages": a_list(REFERENCE) | {"deprecated": True}}
        | STAMPS
    ),
    fields.DEALS: an_object(
        ID_AND_NAME
        | _plain_answers(fields.DEALS)
        | {
            "package": {"anyOf": [REFERENCE, {"type": "null"}], "deprecated": True},
            "seat": SEAT,
            "dsp": DSP,
            "supply_deals": a_list(IN_BRIEF),
        }
        | STAMPS
    ),
    "packages": an_object(
        ID_AND_NAME
        | {
            "seats": a_list(an_object({"value": FLAG, "seat": SEAT, "dsp": DSP})),
            "supply_deals": a_list(IN_BRIEF),
            "demand_deals": a_list(an_object(ID_AND_NAME | {"deal_id": TEXT, "status": STATUS.answer})),
        }
        | STAMPS
    ),
    "seats": an_object(ID_AND_NAME | {"external_id": NO_TEXT, "dsp": DSP} | STAMPS),
    "dsps": an_object(ID_AND_NAME | {"supports_deal_sync": FLAG} | STAMPS),
    "domain_lists": an_object(ID_AND_NAME | {"domains": a_list(TEXT)} | STAMPS),
    "app_lists": an_object(ID_AND_NAME | {"apps": a_list(TEXT)} | STAMPS),
}


def with_warnings(schema: Schema) -> Schema:
    """The answer to a creation."""
    return schema | {"properties": schema["properties"] | {"warnings": WARNING_LIST}}


def page_of(schema: Schema) -> Schema:
    """A page of a list."""
    counts = {"type": "object", "additionalProperties": {"type": "object"}, "description": ABOUT_COUNTS}
    return an_object(
        {"count": {"type": "integer"}, "next": NO_TEXT, "previous": NO_TEXT, "results": a_list(schema)},
        {"counts": counts, "etags": {"type": "object", "additionalProperties": {"type": "string"}}},
    )
