"""The deals endpoints in /openapi.json: parameters, bodies, answers, error codes, worked examples."""

from collections.abc import Mapping, Sequence
from typing import Any

from lib.deals import several
from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT
from lib.deals.requests import ANSWERS, CHANGE, CHANGED_ONE, page_of, with_warnings
from lib.deals.store import listing
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.filters import FILTERS
from lib.deals.store.work import LONGEST
from lib.deals.values import LARGEST_ID
from lib.wire.errors import (
    Conflict,
    DeadlineExceeded,
    Forbidden,
    InternalError,
    InUse,
    Invalid,
    NotFound,
    StoreAway,
    Throttled,
    Unauthorized,
)
from lib.wire.schemas import TEXT, Schema, a_list, an_object, of_model

PROBLEM = an_object({"detail": TEXT})
MESSAGES: Schema = {"type": "array", "items": {"type": ["string", "object"]}}
INVALID: Schema = {
    "type": "object",
    "description": "Messages by field, nested as the request is; non_field_errors for the whole",
    "additionalProperties": {"anyOf": [MESSAGES, {"type": "object"}]},
}
INVALID_EXAMPLE: Schema = {
    "name": ["This field is required."],
    "geo_targetings": [{}, {"type": ["This must be 'country', 'region', 'city', 'dma' or 'zip'."]}],
}
RETRY: Schema = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "string"}}}
CHALLENGE: Schema = {"WWW-Authenticate": {"description": "Bearer", "schema": {"type": "string"}}}


WITHOUT_ID = ("list", "create", "create_many", "change_many")


def of(verb: str, noun: str) -> dict[int | str, Any]:
    """The error codes of this verb."""
    responses: dict[int | str, Any] = {
        Invalid.http: _answer("What is wrong with the request, all at once", INVALID, INVALID_EXAMPLE),
        Unauthorized.http: _detail("No token, or none that is valid for this service", "A token is required")
        | {"headers": CHALLENGE},
        Forbidden.http: _detail("Who asks may not do this", "'viewer' can see deals, but not change them"),
        Throttled.http: _detail(
            "Too many requests", "More than 60 requests a minute; try again in 12 seconds"
        )
        | {"headers": RETRY},
        InternalError.http: _detail("A failure of the service", "The service had an internal error"),
        StoreAway.http: _detail(
            "The database is away", "The database can't be reached right now; nothing was changed"
        )
        | {"headers": RETRY},
        DeadlineExceeded.http: _detail(
            "The request is too large, or took too long", "The database did not answer in time"
        ),
    }
    if verb in ("create", "create_many", "change", "change_many", "remove"):
        responses[Conflict.http] = _detail(
            "A duplicate, a lost race, or an edit of something that changed meanwhile", _STALE
        )
    if verb not in WITHOUT_ID:
        responses[NotFound.http] = _detail(f"There is no such {noun}", f"There is no {noun} 12")
    if verb in ("change", "remove"):
        responses[InUse.http] = _detail("Others depend on it", "The seat 1 'Bluebird' can't be deleted: …")
    return dict(sorted(responses.items(), key=lambda one: str(one[0])))


_STALE = "Changed since it was read, so nothing was saved: price from 2.5 to 3, by manager at …"


def _detail(description: str, example: str) -> Schema:
    return _answer(description, PROBLEM, {"detail": example})


def _answer(description: str, schema: Schema, example: Schema) -> Schema:
    content = {"application/json": {"schema": schema, "example": example}}
    return {"description": description, "content": content}


Examples = dict[str, tuple[str, Schema]]

PACKAGE: Schema = {
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
NEW_DEALS_EXAMPLE: Schema = {
    "demand_deals_options": [
        {"seat": {"id": 1}, "price": 2.5, "deal_sync": True},
        {"seat": {"id": 4}, "price": 3.15},
    ],
    "agency_curation_fee": 10,
    "agency_curation_fee_type": 1,
    "contact_email": "deals@agency.example",
}
CREATE_EXAMPLES: dict[str, Examples] = {
    "supply_deals": {
        "new": (
            "With two demand deals, created with it",
            PACKAGE | {"create_demand_deals": NEW_DEALS_EXAMPLE},
        ),
        "linked": ("With a demand deal that is there already", PACKAGE | {"demand_deals": [{"id": 7}]}),
        "alone": ("Without demand deals", PACKAGE),
    },
    "demand_deals": {
        "deal": (
            "A seat's access to one supply package",
            {
                "name": "Morning News - Bluebird",
                "seat": {"id": 1},
                "price": 2.5,
                "supply_deals": [{"id": 1}],
            },
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
CHANGE_EXAMPLES: dict[str, Examples] = {
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


LEGACY = "packages"
NEW_DEALS = "create_demand_deals"
TAG: Schema = {"description": "The state that If-Match names", "schema": TEXT}
NOTES = {
    "create_supply_deals": "With create_demand_deals its demand deals are created too, all or nothing; with "
    "demand_deals existing ones are linked; not both.",
    "change_supply_deals": "demand_deals is the whole list of linked deals; create_demand_deals adds new "
    "ones, all or nothing (to a package that exists, an extension).",
    "change_demand_deals": "supply_deals is the whole list of linked packages.",
    "create_packages": "One demand deal is created for each seat whose `value` is true. Create supply "
    "packages with create_demand_deals instead.",
    "change_packages": "A newly selected seat gets a demand deal; one that has a deal can't be deselected.",
}
MANY = "A list of changes, each with its id: one that is refused leaves the others changed. An extension."
NEW_MANY = "A list of them: all are created, or none. An extension."
ABOUT_WARNINGS = "What is valid and probably a slip: a JSON list of sentences, in ASCII. An extension."
EXTENSION = "Latest first; it stays when the entity is removed. An extension."
OF_VERB = {"history": EXTENSION, "change_many": MANY, "create_many": NEW_MANY}
ORDERS = "Another entity goes by its name, a supply package's price is the lowest of its deals."
SEARCH_OF_OTHERS = (
    "Entities with each of these words in their name or code, whatever its case, or as their id"
)
SEARCH = (
    "Entities with each of these words, whatever its case: in their name, codes, contact or targeting, in "
    "those of the packages or deals that they are linked with, of their seats and DSPs, or as their "
    "id. An extension."
)
MEANING = (
    "A value of targeting that a word of the search stands for too, as word:kind:value: with "
    "`search=france&meaning=france:country:FR`, what is targeted at FR is found as well. An extension."
)
COUNTS = (
    "Adds `counts`: how many entities have each value of these filters, whatever those filters are set to "
    "themselves; comma-separated. An extension. One or more of"
)
REPORT = (
    "The slicer, as project/slicer, that `health` and what deals delivered are computed from: without it, "
    "health is by what deals say themselves. An extension."
)
ETAGS = "Adds `etags`: the ETag of each entity of the page, by id. An extension."
ATOMIC = "All are refused if one is: the others then have the status 424."
FIRST = {
    "list": "{}s",
    "get": "A {}",
    "create": "Create a {}",
    "change": "Change fields of a {}",
    "change_many": "Change fields of several {}s",
    "create_many": "Create several {}s",
    "remove": "Delete a {}",
    "history": "What happened to a {}",
}


def operation(entity: str, verb: str) -> dict[str, Any]:
    """The documentation of one endpoint, as `add_api_route` takes it."""
    name = f"{verb}_{entity}"
    summary = FIRST[verb].format(ENTITY_STORES[entity].noun)
    return {
        "operation_id": name,
        "summary": summary[0].upper() + summary[1:],
        "description": OF_VERB.get(verb, NOTES.get(name, "")),
        "deprecated": True if entity == LEGACY else None,
        "status_code": {"create": 201, "create_many": 201, "change": 204, "remove": 204}.get(verb, 200),
        "response_model": None,
        "responses": _success(entity, verb) | of(verb, ENTITY_STORES[entity].noun),
        "openapi_extra": {"parameters": _parameters(entity, verb), **_body(entity, verb)},
    }


def _parameters(entity: str, verb: str) -> list[Schema]:
    parameters = []
    if verb not in WITHOUT_ID:
        id_ = {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}
        parameters.append({"name": "id", "in": "path", "required": True, "schema": id_, "example": 1})
    if verb in ("list", "history"):
        parameters += [
            _query("limit", {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT}, DEFAULT_LIMIT),
            _query("offset", {"type": "integer", "minimum": 0, "maximum": LARGEST_ID}, 0),
        ]
    if verb == "list":
        parameters += _finding(entity)
    if verb == "change_many":
        parameters.append(_query("atomic", {"type": "boolean", "description": ATOMIC}))
    if verb in ("create", "create_many", "change"):
        parameters.append(
            _header(
                "Idempotency-Key",
                "A request with the same key and body takes effect once.",
                {"maxLength": LONGEST},
            )
        )
    if verb in ("change", "remove"):
        parameters.append(_header("If-Match", "The ETag that was read: 409 if there was a change since.", {}))
    return parameters


def _finding(entity: str) -> list[Schema]:
    """Search, ordering, and a filter for each plain field."""
    offer = listing.offer(entity)
    ordering = _names([f"-?{name}" for name in offer.orderings])
    how = f"Comma-separated, a minus before a name reverses it: {', '.join(offer.orderings)}. {ORDERS}"
    parameters = [
        _query("search", TEXT | {"description": SEARCH if offer.kinds else SEARCH_OF_OTHERS}),
        _query("ordering", TEXT | {"pattern": ordering, "description": how}),
        *(_query(name, {"type": "array", "items": one.kind.schema}) for name, one in FILTERS[entity].items()),
    ]
    if offer.kinds:
        meaning = TEXT | {"pattern": f"^[^\\s:]+:({'|'.join(offer.kinds)}):.+$"}
        parameters.append(_query("meaning", {"type": "array", "items": meaning, "description": MEANING}))
    parameters.append(_query("etags", {"type": "boolean", "description": ETAGS}))
    if offer.has_health:
        parameters.append(_query("report", TEXT | {"pattern": "^([^/]+/.+)?$", "description": REPORT}))
    if offer.countable:
        counts = f"{COUNTS} {', '.join(offer.countable)}."
        parameters.append(
            _query("counts", TEXT | {"pattern": _names([*offer.countable]), "description": counts})
        )
    return parameters


def _names(names: Sequence[str]) -> str:
    """The pattern of a comma-separated list of these."""
    either = "|".join(names)
    return f"^(({either})(,({either}))*)?$"


def _query(name: str, schema: Schema, usual: int | None = None) -> Schema:
    full_schema = schema if usual is None else schema | {"default": usual}
    return {"name": name, "in": "query", "required": False, "schema": full_schema}


def _header(name: str, description: str, limits: Schema) -> Schema:
    schema = TEXT | {"minLength": 1, "pattern": "^[!-~]+$"} | limits
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _body(entity: str, verb: str) -> Schema:
    if verb not in ("create", "create_many", "change", "change_many"):
        return {}
    schema = of_model(ENTITY_STORES[entity].request)
    examples = CREATE_EXAMPLES[entity] if verb in ("create", "create_many") else CHANGE_EXAMPLES[entity]
    if verb == "create_many":
        array = a_list(schema) | {"minItems": 1, "maxItems": several.MOST}
        samples = {name: (summary, [value]) for name, (summary, value) in examples.items()}
        content = {"schema": array, "examples": _with_examples(samples)}
        return {"requestBody": {"required": True, "content": {"application/json": content}}}
    if verb == "change_many":
        return _many(_partial(schema), examples)
    schema = _partial(schema) if verb == "change" else schema
    if NEW_DEALS in schema["properties"]:
        both = {"demand_deals": {"type": "array"}, NEW_DEALS: {"type": "object"}}
        schema |= {"not": {"required": list(both), "properties": both}}
    content = {"schema": schema, "examples": _with_examples(examples)}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def _many(schema: Schema, examples: Examples) -> Schema:
    """The body of a change of several."""
    fields = {name: field for name, field in schema["properties"].items() if name != NEW_DEALS}
    id_ = {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}
    one = schema | {"properties": {"id": id_, "etag": TAG["schema"], **fields}}
    several_ = a_list(one | {"required": ["id"]})
    several_ |= {"minItems": 1, "maxItems": several.MOST, "uniqueItems": True}
    samples = {name: (summary, [{"id": 1, **value}]) for name, (summary, value) in examples.items()}
    content = {"schema": several_, "examples": _with_examples(samples)}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def _partial(schema: Schema) -> Schema:
    """For a change: any of the fields, and no defaults."""
    properties = {
        name: {key: value for key, value in field.items() if key != "default"}
        for name, field in schema["properties"].items()
    }
    return {key: value for key, value in schema.items() if key != "required"} | {"properties": properties}


def _with_examples(examples: Mapping[str, tuple[str, Any]]) -> Schema:
    return {name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()}


def _success(entity: str, verb: str) -> dict[int | str, Any]:
    noun = ENTITY_STORES[entity].noun
    if verb == "remove":
        return {204: {"description": "It is deleted"}}
    if verb == "change_many":
        results = an_object({"results": a_list(CHANGED_ONE)})
        content = {"application/json": {"schema": results}}
        return {200: {"description": "The result of each, in the order of the list", "content": content}}
    if verb == "create_many":
        one = an_object({"id": ANSWERS[entity]["properties"]["id"], "name": TEXT, "deal_id": TEXT})
        content = {"application/json": {"schema": an_object({"results": a_list(one)})}}
        return {201: {"description": "Each, in the order of the list", "content": content}}
    if verb == "change":
        headers = {"ETag": TAG, "Tranche-Warnings": {"description": ABOUT_WARNINGS, "schema": TEXT}}
        return {204: {"description": "It is changed", "headers": headers}}
    if verb in ("list", "history"):
        schema = page_of(ANSWERS[entity] if verb == "list" else CHANGE)
        return {200: {"description": "A page", "content": {"application/json": {"schema": schema}}}}
    content = {"application/json": {"schema": ANSWERS[entity]}}
    if verb == "get":
        return {200: {"description": f"The {noun}", "headers": {"ETag": TAG}, "content": content}}
    content = {"application/json": {"schema": with_warnings(ANSWERS[entity])}}
    headers = {
        "ETag": TAG,
        "Location": {"description": "Where it is", "schema": TEXT},
        "Idempotency-Replayed": {"description": "`true` on the first answer, repeated", "schema": TEXT},
    }
    return {201: {"description": f"The {noun}, created", "headers": headers, "content": content}}
