"""The bodies of requests to the deals service, an entity each.

The deals specification names the fields; which are required is our own choice. Plain fields come from
fields.py. What an element of a targeting consists of is said by the models (models.py; decisions: Targeting
elements): here are the limits of each of its fields.
"""

from collections.abc import Collection, Mapping
from types import GenericAlias
from typing import Annotated, Any

from pydantic import ConfigDict, Field, create_model

from lib.deals import fields
from lib.deals.models import TARGETING_ELEMENTS, GeoType
from lib.deals.values import Amount, ById, Domain, Id, Name, Pixels, Request, Unread, Value
from lib.wire.schemas import Schema

NEW_DEALS = "create_demand_deals"
# Either new deals or linked ones (the specification, Rules: 1).
_BOTH = {"demand_deals": {"type": "array"}, NEW_DEALS: {"type": "object"}}
MOST_TARGETS, MOST_DEALS, MOST_ENTRIES = 1_000, 500, 20_000
TARGETING_FIELDS: Mapping[str, Any] = {
    "id": Id, "name": Unread | None, "type": GeoType, "value": Value, "width": Pixels, "height": Pixels,
    "is_excluded": bool,
}  # fmt: skip
Links = Annotated[list[ById], Field(max_length=MOST_DEALS)]


class EntityRequest(Request):
    """The fields of an entity that can be set; `READ_ONLY` are those of its answers that can't."""

    READ_ONLY = frozenset({"id", "created_at", "updated_at"})


class SeatChoiceRequest(Request):
    """A seat of a package; only one whose `value` is true gets a demand deal."""

    value: bool
    seat: ById
    dsp: ById | None = None


class PackageRequest(EntityRequest):
    """Package (deprecated)."""

    READ_ONLY = EntityRequest.READ_ONLY | {"demand_deals"}

    name: Name
    seats: Annotated[list[SeatChoiceRequest], Field(max_length=MOST_DEALS)] = Field(default_factory=list)
    supply_deals: Links = Field(default_factory=list)


class SeatRequest(EntityRequest):
    """Seat."""

    name: Name
    dsp: ById
    external_id: Value | None = None


class DspRequest(EntityRequest):
    """DSP."""

    name: Name
    supports_deal_sync: bool = False


class DomainListRequest(EntityRequest):
    """Domain list."""

    name: Name
    domains: Annotated[list[Domain], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)


class AppListRequest(EntityRequest):
    """App list."""

    name: Name
    apps: Annotated[list[Value], Field(max_length=MOST_ENTRIES)] = Field(default_factory=list)


def _request(
    name: str, doc: str, read_only: Collection[str] = (), schema: Schema | None = None, /, **more: Any
) -> type[Request]:
    """A request with these fields, as `create_model` takes them; `schema` is added to its JSON Schema."""
    config = ConfigDict(json_schema_extra=schema)
    model = create_model(name, __base__=Request, __doc__=doc, __config__=config, **more)
    model.READ_ONLY = frozenset(read_only)
    return model


def _plain(entity: str, *names: str) -> dict[str, Any]:
    """The plain fields of an entity that a request sets; with `names` these alone."""
    return {
        field.name: (field.request_type, ... if field.default is fields.REQUIRED else field.default)
        for field in fields.of(entity)
        if field.is_writable and (not names or field.name in names)
    }


# Elements of targetings: the models' fields and defaults, each within its limits.
_ELEMENTS = {
    model: _request(model.__name__, model.__doc__ or "", **{
        name: (TARGETING_FIELDS[name], ... if field.is_required() else field.default)
        for name, field in model.model_fields.items()
    })
    for model in TARGETING_ELEMENTS.values()
}  # fmt: skip
TARGETING: Mapping[str, Any] = {
    name: GenericAlias(list, (_ELEMENTS[model],)) for name, model in TARGETING_ELEMENTS.items()
}
DemandDealOptionRequest = _request(
    "DemandDealOptionRequest",
    "A demand deal to create. Its own terms are instead of those that all share. (An extension.)",
    seat=(ById, ...), price=(Amount, ...), deal_sync=(bool, False), is_active=(bool, True),
    **_plain(fields.DEALS, *fields.TERMS),
)  # fmt: skip
CreateDemandDealsRequest = _request(
    "CreateDemandDealsRequest",
    "Demand deals to create with a supply package.",
    demand_deals_options=(
        GenericAlias(list, (DemandDealOptionRequest,)), Field(min_length=1, max_length=MOST_DEALS)
    ),
    **_plain(fields.DEALS, *fields.TERMS),
)  # fmt: skip
SupplyPackageRequest = _request(
    "SupplyPackageRequest",
    "Supply Package.",
    EntityRequest.READ_ONLY | {"packages"} | fields.read_only(fields.SUPPLY),
    {"not": {"required": [*_BOTH], "properties": _BOTH}},
    **_plain(fields.SUPPLY),
    **{
        name: (elements, Field(max_length=MOST_TARGETS, default_factory=list))
        for name, elements in TARGETING.items()
    },
    # An empty list is a way to get deals as well: beside create_demand_deals it is refused.
    demand_deals=(Annotated[list[ById], Field(max_length=MOST_DEALS, default_factory=lambda: None)], ...),
    create_demand_deals=(CreateDemandDealsRequest | None, None),
)
DemandDealRequest = _request(
    "DemandDealRequest", "Demand Deal.",
    EntityRequest.READ_ONLY | {"dsp", "package"} | fields.read_only(fields.DEALS), seat=(ById, ...),
    supply_deals=(Links, Field(default_factory=list)), **_plain(fields.DEALS),
)  # fmt: skip
