"""What the routes of the deals API document for OpenAPI: models of answers and changes, errors, parameters,
examples of bodies.

Requests are documented by the models that read them (requests.py).
"""

from functools import cache
from types import GenericAlias
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from lib.deals import fields, requests
from lib.deals.delivery import FIGURES, PacingStatus
from lib.deals.fields import Time
from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT
from lib.deals.values import LARGEST_ID, Id, Request
from lib.wire.errors import (
    DeadlineExceeded,
    DealsError,
    Forbidden,
    InternalError,
    Invalid,
    StoreAway,
    StoreUnwritable,
    Throttled,
    TrancheError,
    Unauthorized,
)
from lib.wire.schemas import FLAG, MEANINGS, TEXT, Examples, Schema, failure

Responses = dict[int | str, Any]
INVALID_EXAMPLE = {
    "name": ["This field is required."],
    "geo_targetings": [{}, {"type": ["This must be 'country', 'region', 'city', 'dma' or 'zip'."]}],
}
ABOUT_COUNTS = "Filter → value → how many; only where `counts` asks for it. An extension."
WARNINGS: Any = (
    Annotated[list[str], Field(description="What is valid and probably a slip, in a write. An extension.")],
    [],
)
USUAL: tuple[type[TrancheError], ...] = (
    Unauthorized, Forbidden, Throttled, InternalError, StoreAway, StoreUnwritable, DeadlineExceeded,
)  # fmt: skip
"""The errors of every endpoint, beside Invalid."""
PACKAGE: dict[str, Any] = {
    "name": "Morning News Display",
    "media_type": "banner",
    "start_date": "2026-11-20 09:00:00+0100",
    "end_date": None,
    "is_active": True,
    "geo_targetings": [{"type": "country", "value": "US"}, {"type": "country", "value": "CA"}],
    "device_targetings": [{"value": "smartphone"}],
    "browser_targetings": [{"value": "Safari", "is_excluded": True}],
    "size_targetings": [{"width": 300, "height": 250}],
}
NEW_DEALS: dict[str, Any] = {
    "demand_deals_options": [
        {"seat": {"id": 1}, "price": 2.5, "deal_sync": True},
        {"seat": {"id": 4}, "price": 3.15},
    ],
    "agency_curation_fee": 10,
    "agency_curation_fee_type": 1,
    "contact_email": "deals@agency.example",
}
CREATE: dict[str, Examples] = {
    "supply_deals": {
        "new": ("With two demand deals, created with it", PACKAGE | {"create_demand_deals": NEW_DEALS}),
        "linked": ("With a demand deal that is there already", PACKAGE | {"demand_deals": [{"id": 7}]}),
        "alone": ("Without demand deals", PACKAGE),
    },
    "demand_deals": {
        "deal": (
            "A seat's access to one supply package",
            {"name": "Morning News - Bluebird", "seat": {"id": 1}, "price": 2.5, "supply_deals": [{"id": 1}]},
        )
    },
    "packages": {
        "package": (
            "Of two seats one is selected, and gets a deal",
            {
                "name": "Morning News",
                "seats": [
                    {"value": True, "seat": {"id": 1}, "dsp": {"id": 1}},
                    {"value": False, "seat": {"id": 4}, "dsp": {"id": 2}},
                ],
                "supply_deals": [{"id": 1}],
            },
        )
    },
    "seats": {
        "seat": ("A seat", {"name": "Bluebird & Partners", "external_id": "seat-107", "dsp": {"id": 1}})
    },
    "dsps": {"dsp": ("A DSP", {"name": "Alder Bidder", "supports_deal_sync": True})},
    "domain_lists": {
        "list": ("Two sites", {"name": "Quiet reading", "domains": ["news.example", "books.example"]})
    },
    "app_lists": {"list": ("Two apps", {"name": "Games", "apps": ["com.example.chess", "1234567890"]})},
}
CHANGES: dict[str, Examples] = {
    "supply_deals": {
        "pause": ("Pause it", {"is_active": False}),
        "prolong": ("Prolong it", {"end_date": "2026-12-31 23:59:59+0100"}),
        "link": ("Link these deals and no others", {"demand_deals": [{"id": 7}, {"id": 8}]}),
    },
    "demand_deals": {
        "price": ("Another price", {"price": 2.75}),
        "pause": ("Pause it", {"is_active": False}),
    },
    "packages": {"rename": ("Another name", {"name": "Morning News, old"})},
    "seats": {"rename": ("Another name", {"name": "Bluebird"})},
    "dsps": {"sync": ("It takes synchronized deals now", {"supports_deal_sync": True})},
    "domain_lists": {"domains": ("These domains and no others", {"domains": ["news.example"]})},
    "app_lists": {"apps": ("These apps and no others", {"apps": ["com.example.chess"]})},
}


def _model(name: str, doc: str, base: Any = BaseModel, /, **types: Any) -> Any:
    """A model of an answer; a tuple has a type and a default."""
    definitions: Any = {
        field: kind if isinstance(kind, tuple) else (kind, ...) for field, kind in types.items()
    }
    return create_model(name, __base__=base, __doc__=doc, **definitions)


def _list(model: type[BaseModel]) -> Any:
    return GenericAlias(list, (model,))


def _plain(entity: str, *names: str) -> dict[str, Any]:
    """The plain fields of an entity's answers; with `names` these alone."""
    return {field.name: field.answer for field in fields.of(entity) if not names or field.name in names}


PROBLEM = _model("Problem", "Why a request was refused.", detail=str)
INVALID = _model(
    "ValidationErrors", "Messages by field, nested as the request is; non_field_errors for the whole.",
    RootModel[dict[str, list[str | dict[str, Any]] | dict[str, Any]]],
)  # fmt: skip
REFERENCE = _model("Reference", "Another entity, by its id.", id=Id, name=str)
ENTITY = _model("Entity", "An entity.", REFERENCE, created_at=Time, updated_at=Time, warnings=WARNINGS)
DSP = _model("DspReference", "A DSP of others.", REFERENCE, supports_deal_sync=bool)
SEAT = _model("SeatReference", "A seat of others.", REFERENCE, external_id=str | None, dsp=DSP)
SEAT_CHOICE = _model("SeatChoice", "A seat, and whether it has a deal.", value=bool, seat=SEAT, dsp=DSP)
PACKAGE_SUMMARY = _model(
    "PackageSummary", "A supply package that a deal is linked with.", REFERENCE,
    **_plain(fields.SUPPLY, "media_type", "is_active", "start_date", "end_date", "status"),
)  # fmt: skip
DEAL_SUMMARY = _model(
    "DealSummary", "A demand deal of a package.", REFERENCE, **_plain(fields.DEALS, "deal_id", "status")
)
ANSWERS = {
    fields.SUPPLY: _model(
        "SupplyPackage",
        "What is sold, from when to when.",
        ENTITY,
        **_plain(fields.SUPPLY),
        **requests.TARGETING,
        demand_deals=_list(REFERENCE),
        packages=Annotated[_list(REFERENCE), Field(deprecated=True)],
    ),
    fields.DEALS: _model(
        "DemandDeal",
        "One seat's access to supply packages, at a price.",
        ENTITY,
        **_plain(fields.DEALS),
        package=Annotated[REFERENCE | None, Field(deprecated=True)],
        seat=SEAT,
        dsp=DSP,
        supply_deals=_list(PACKAGE_SUMMARY),
    ),
    "packages": _model(
        "Package",
        "Package (deprecated).",
        ENTITY,
        seats=_list(SEAT_CHOICE),
        supply_deals=_list(PACKAGE_SUMMARY),
        demand_deals=_list(DEAL_SUMMARY),
    ),
    "seats": _model("Seat", "A buyer's seat at a DSP.", (ENTITY, SEAT)),
    "dsps": _model("Dsp", "A demand-side platform.", (ENTITY, DSP)),
    "domain_lists": _model("DomainList", "Site domains under one name.", ENTITY, domains=list[str]),
    "app_lists": _model("AppList", "App bundles under one name.", ENTITY, apps=list[str]),
}
CREATED_DEAL = _model("CreatedDeal", "One of the deals.", REFERENCE, deal_id=str, warnings=WARNINGS)
CHANGE_RESULT = _model(
    "ChangeResult", "What became of one change.", id=Id,
    status=Annotated[int, Field(description="204, or the code that it would answer alone")],
    error=(Annotated[dict[str, Any], Field(description="The body of that refusal")], {}), warnings=WARNINGS,
)  # fmt: skip
WARNING = _model(
    "Warning", "What is valid and probably a slip: the rule, the field, and both values. An extension.",
    kind=str, field=str, sentence=str, before=Any, after=Any,
    asks=Annotated[bool, Field(description="Screens have it confirmed; otherwise it is a hint")],
    compared_with=Annotated[str, Field(description="What `before` is, in words")],
)  # fmt: skip
DELIVERY = _model(
    "DeliveryFigures",
    "What a deal delivered, by the report: figures of the last days, and of guaranteed impressions those to "
    "date, expected by then if they come evenly, and projected to the end. An extension.",
    **dict.fromkeys(FIGURES, float | None),
    pace=Annotated[
        PacingStatus | None, Field(description="Of its goal to date; of a budget in the last 7 days")
    ],
    is_estimate=Annotated[bool, Field(description="The figures are of a sample")],
)
PAGE = _model(
    "Page",
    "A page.",
    count=int,
    next=str | None,
    previous=str | None,
    counts=(Annotated[dict[str, dict[str, Any]], Field(description=ABOUT_COUNTS)], {}),
    etags=(dict[str, str], {}),
    delivery=(
        Annotated[GenericAlias(dict, (str, DELIVERY)), Field(description="By the deal's id. An extension.")],
        {},
    ),
)


@cache
def page_of(answer: type[BaseModel], base: Any = PAGE) -> Any:
    """A page of a list of these; with another base, a list alone."""
    return _model(f"{answer.__name__}Page", "In their order.", base, results=_list(answer))


@cache
def dry_run_result(answer: type[BaseModel]) -> type[BaseModel]:
    """What is answered about such an entity in place of a write."""
    would = Annotated[dict[str, Any] | None, Field(description=f"As a {answer.__name__}, new ids null")]
    place = Annotated[list[str | int], Field(description="Where it stands in the request")]
    result: type[BaseModel] = _model(
        f"DryRunOf{answer.__name__}", "What a write would make.", BaseModel,
        place=place, would=would, errors=dict[str, Any], warnings=_list(WARNING),
    )  # fmt: skip
    return result


def dry_run(answer: type[BaseModel]) -> Responses:
    """The documentation of a dry run, beside that of the write."""
    model = page_of(dry_run_result(answer), BaseModel)
    return success(200, "Nothing was written: what each would be, with dry_run", model)


@cache
def or_dry_run(answer: type[BaseModel]) -> Any:
    """The answer of a write that answers 200 as its dry run does."""
    either = RootModel[answer | page_of(dry_run_result(answer), BaseModel)]  # type: ignore[valid-type, misc]
    return _model(f"{answer.__name__}OrDryRun", "What was written, or what would be.", either)


@cache
def changed_many(answer: type[BaseModel]) -> Any:
    """The results of several changes, or of a dry run of them."""
    either = GenericAlias(list, (CHANGE_RESULT | dry_run_result(answer),))
    return _model(f"ChangesOf{answer.__name__}", "In their order.", BaseModel, results=either)


def change_of(request: type[Request], *, in_list: bool = False) -> type[Request]:
    """The request as a change: any of its fields, no defaults; in a list with its id, without new deals."""

    def edit(schema: Schema) -> None:
        properties = schema["properties"]
        for field in properties.values():
            field.pop("default", None)
        if in_list:
            properties.pop(requests.NEW_DEALS, None)
            schema["required"] = ["id"]
        else:
            del schema["required"]
            schema |= own_schema

    own_schema: Any = request.model_config.get("json_schema_extra") or {}
    more: Any = {"id": (Id, ...), "etag": (str, "")} if in_list else {}
    name = request.__name__.replace("Request", "ChangeById" if in_list else "Change")
    config = ConfigDict(json_schema_extra=edit)
    return create_model(name, __base__=request, __doc__="Any of the fields.", __config__=config, **more)


CONTENT_TAG: Schema = {"ETag": {"description": "The content, for If-None-Match", "schema": TEXT}}
UNCHANGED: Responses = {304: {"description": "As If-None-Match has it", "headers": CONTENT_TAG}}


def success(
    code: int, description: str, model: type[BaseModel] | None = None, headers: Schema | None = None
) -> Responses:
    """The documentation of a successful response, with a JSON body or none."""
    return {code: {"description": description, "model": model, "headers": headers or {}}}


def errors(*kinds: type[DealsError], noun: str = "") -> Responses:
    """The documentation of these errors, and of those of every endpoint; `noun`: of what it is about."""
    documents: Responses = {Invalid.http: failure(Invalid, INVALID, INVALID_EXAMPLE)}
    for kind in (*USUAL, *kinds):
        example = {"detail": MEANINGS[kind][1].format(noun=noun)}
        documents[kind.http] = failure(kind, PROBLEM, example, noun)
    return documents


def parameter(name: str, schema: Schema, **more: str) -> Schema:
    """The documentation of an optional query parameter, for `openapi_extra`."""
    return {"name": name, "in": "query", "required": False, "schema": schema, **more}


PAGE_PARAMETERS = [
    parameter("limit", {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT}),
    parameter("offset", {"type": "integer", "minimum": 0, "maximum": LARGEST_ID, "default": 0}),
]
DRY_RUN_PARAMETER = parameter(
    "dry_run",
    FLAG | {
        "description": "Writes nothing: answers 200 with what each entity would be, what is wrong with it, "
        "and what is valid and probably a slip. An extension."
    },
)  # fmt: skip
