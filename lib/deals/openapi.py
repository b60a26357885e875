"""What the routes of the deals API document for OpenAPI: answers, errors, parameters, examples of bodies."""

from collections.abc import Mapping
from typing import Any

from lib.deals import fields
from lib.deals.fields import MOMENT, STATUS
from lib.deals.models import ACTIONS, TARGETING_ELEMENTS
from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT
from lib.deals.requests import KINDS
from lib.deals.values import LARGEST_ID
from lib.wire.errors import (
    Conflict,
    DeadlineExceeded,
    DealsError,
    Forbidden,
    InternalError,
    InUse,
    Invalid,
    NotFound,
    StoreAway,
    StoreUnwritable,
    Throttled,
    TrancheError,
    Unauthorized,
)
from lib.wire.schemas import FLAG, NO_TEXT, TEXT, Schema, a_list, an_object

Responses = dict[int | str, Any]
Examples = dict[str, tuple[str, Any]]
JSON = "application/json"
PROBLEM = an_object({"detail": TEXT})
INVALID: Schema = {
    "type": "object",
    "description": "Messages by field, nested as the request is; non_field_errors for the whole",
    "additionalProperties": {
        "anyOf": [{"type": "array", "items": {"type": ["string", "object"]}}, {"type": "object"}]
    },
}
INVALID_EXAMPLE: Schema = {
    "name": ["This field is required."],
    "geo_targetings": [{}, {"type": ["This must be 'country', 'region', 'city', 'dma' or 'zip'."]}],
}
RETRY: Schema = {"Retry-After": {"description": "Seconds to wait", "schema": TEXT}}
CHALLENGE: Schema = {"WWW-Authenticate": {"description": "Bearer", "schema": TEXT}}
STALE = "Changed since it was read, so nothing was saved: price from 2.5 to 3, by manager at …"
USUAL: tuple[type[TrancheError], ...] = (
    Unauthorized, Forbidden, Throttled, InternalError, StoreAway, StoreUnwritable, DeadlineExceeded,
)  # fmt: skip
"""The errors of every endpoint, beside Invalid."""
ERRORS: dict[type[TrancheError], tuple[str, str, Schema]] = {
    Unauthorized: ("No token, or none that is valid for this service", "A token is required", CHALLENGE),
    Forbidden: ("Who asks may not do this", "'viewer' can see deals, but not change them", {}),
    NotFound: ("There is no such {noun}", "There is no {noun} 12", {}),
    InUse: ("Others depend on it", "The seat 1 'Bluebird' can't be deleted: …", {}),
    Conflict: ("A duplicate, a lost race, or an edit of something that changed meanwhile", STALE, {}),
    Throttled: ("Too many requests", "More than 60 requests a minute; try again in 12 seconds", RETRY),
    InternalError: ("A failure of the service", "The service had an internal error", {}),
    StoreAway: (
        "The database is away", "The database can't be reached right now; nothing was changed", RETRY,
    ),
    StoreUnwritable: ("The disk is full or read-only", StoreUnwritable.REASON, {}),
    DeadlineExceeded: (
        "The request is too large, or took too long", "The database did not answer in time", {},
    ),
}  # fmt: skip
"""What an error means, an example of it, and its headers."""
ID: Schema = {"type": "integer", "minimum": 1}
TIME = MOMENT.answer
STAMPS = {"created_at": TIME, "updated_at": TIME}
ID_AND_NAME = {"id": ID, "name": TEXT}
REFERENCE = an_object(ID_AND_NAME)
DSP = an_object(ID_AND_NAME | {"supports_deal_sync": FLAG})
SEAT = an_object(ID_AND_NAME | {"external_id": NO_TEXT, "dsp": DSP})
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
TARGETING_ANSWERS: dict[str, Schema] = {
    name: a_list(an_object({field: KINDS[field].answer for field in model.model_fields}))
    for name, model in TARGETING_ELEMENTS.items()
}
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
        "new": (
            "With two demand deals, created with it",
            PACKAGE | {"create_demand_deals": NEW_DEALS},
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


def success(
    code: int, description: str, schema: Schema | None = None, headers: Schema | None = None
) -> Responses:
    """The documentation of a successful response, with a JSON body or none."""
    return {code: _response(description, schema, headers)}


def _response(description: str, schema: Schema | None, headers: Schema | None) -> Schema:
    content = {"content": {JSON: {"schema": schema}}} if schema else {}
    return {"description": description, **({"headers": headers} if headers else {}), **content}


def errors(*kinds: type[DealsError], noun: str = "") -> Responses:
    """The documentation of these errors, and of those of every endpoint; `noun`: of what it is about."""
    invalid = _response("What is wrong with the request, all at once", INVALID, None)
    invalid["content"][JSON]["example"] = INVALID_EXAMPLE
    documents: Responses = {Invalid.http: invalid}
    for kind in (*USUAL, *kinds):
        description, example, headers = ERRORS[kind]
        documents[kind.http] = _response(description.format(noun=noun), PROBLEM, headers)
        documents[kind.http]["content"][JSON]["example"] = {"detail": example.format(noun=noun)}
    return documents


def body(schema: Schema, examples: Mapping[str, tuple[str, Any]]) -> Schema:
    """The documentation of a request's body, for `openapi_extra`; examples: name → (summary, value)."""
    samples = {name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()}
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema, "examples": samples}}}}


def parameter(name: str, schema: Schema, **more: str) -> Schema:
    """The documentation of an optional query parameter, for `openapi_extra`."""
    return {"name": name, "in": "query", "required": False, "schema": schema, **more}


PAGE_PARAMETERS = [
    parameter("limit", {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT}),
    parameter("offset", {"type": "integer", "minimum": 0, "maximum": LARGEST_ID, "default": 0}),
]
