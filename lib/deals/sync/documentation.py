"""The OpenAPI documentation of deal sync: its parameters, bodies and responses."""

from typing import Any

from lib.deals import failures
from lib.deals.answers import page_of
from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT
from lib.deals.sync.documents import AD_TYPES, ARCHIVED, VERSION
from lib.deals.sync.models import BUYER_STATUS
from lib.deals.sync.requests import BuyerSeatRequest
from lib.deals.values import LARGEST_ID
from lib.wire.schemas import TEXT, Schema, a_list, an_object, of_model

TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"}
TAG: Schema = {"ETag": {"description": "The content, for If-None-Match", "schema": TEXT}}
EXAMPLE = "TR-7K2Q-9FXA-4M1D"
SPECIFICATION = "Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension."
NOT_SEEN = "Only what the token's seats may see."
SUMMARIES = {
    "list": "Documents of the synchronised deals",
    "get": "The document of a synchronised deal",
    "status": "The status of a deal at its DSP",
    "report": "Report the status of a deal",
}
NOTES = {
    "list": f"{SPECIFICATION} {NOT_SEEN} A deal that was fetched and then deleted is archived.",
    "get": SPECIFICATION,
    "status": f"{SPECIFICATION} As reported last; `ext` says when, and when the deal was fetched.",
    "report": f"{SPECIFICATION} For a DSP's token alone.",
}
TERMS = an_object(
    {"pricetype": {"type": "integer", "minimum": 0}},
    {
        "startdate": TIME,
        "enddate": TIME,
        "countries": a_list(TEXT | {"pattern": "^[A-Z]{3}$"}),
        "dealfloor": {"type": "number"},
        "cur": TEXT | {"pattern": "^[A-Z]{3}$"},
    },
)
CURATION = an_object({}, {"curator": TEXT, "curfeetype": {"type": "integer", "minimum": 0, "maximum": 4}})
DEAL = an_object(
    {
        "id": TEXT,
        "name": TEXT,
        "created": TIME,
        "sellerstatus": {"type": "integer", "minimum": 0, "maximum": ARCHIVED},
        "origin": TEXT,
        "wseat": a_list(TEXT),
        "terms": TERMS,
    },
    {"seller": TEXT, "adtypes": a_list({"enum": [*AD_TYPES.values()]}), "curation": CURATION},
)
STATUS = an_object(
    {
        "buyerseatid": TEXT,
        "status": {"type": "integer", "minimum": 0, "maximum": len(BUYER_STATUS) - 1},
        "ext": an_object({"reported_at": TIME, "reported_by": TEXT}),
    }
)
BUYER_SEAT = an_object(
    {
        "version": {"const": VERSION},
        "id": TEXT,
        "buyerstatus": a_list(STATUS),
        "ext": an_object({}, {"fetched_at": TIME, "fetched_by": TEXT}),
    }
)
ANSWERS = {"list": page_of(DEAL), "get": DEAL, "status": BUYER_SEAT}
WORDS = {"list": "A page", "get": "The document", "status": "The status"}


def operation(verb: str) -> dict[str, Any]:
    """The documentation of one endpoint, as `add_api_route` takes it."""
    return {
        "operation_id": f"{verb}_deal_sync",
        "summary": SUMMARIES[verb],
        "description": NOTES[verb],
        "status_code": 204 if verb == "report" else 200,
        "response_model": None,
        "responses": _success(verb) | _failures(verb),
        "openapi_extra": {"parameters": _parameters(verb), **_body(verb)},
    }


def _success(verb: str) -> dict[int | str, Any]:
    if verb == "report":
        return {204: {"description": "It is stored"}}
    content = {"application/json": {"schema": ANSWERS[verb]}}
    return {
        200: {"description": WORDS[verb], "headers": TAG, "content": content},
        304: {"description": "As If-None-Match has it", "headers": TAG},
    }


def _failures(verb: str) -> dict[int | str, Any]:
    found = failures.of("report" if verb == "report" else "get", "synchronised deal")
    return {code: answer for code, answer in found.items() if code not in (406, 409)}


def _parameters(verb: str) -> list[Schema]:
    deal = _parameter("id", "path", TEXT | {"minLength": 1}) | {"required": True, "example": EXAMPLE}
    known = _parameter("If-None-Match", "header", TEXT)
    if verb != "list":
        return [deal] if verb == "report" else [deal, known]
    whole = {"type": "integer", "minimum": 0, "maximum": LARGEST_ID}
    seats = _parameter("seat", "query", {"type": "array", "items": TEXT})
    return [
        _parameter(
            "limit", "query", whole | {"minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT}
        ),
        _parameter("offset", "query", whole | {"default": 0}),
        seats | {"description": "Only of the seats with these ids at the DSP"},
        known,
    ]


def _parameter(name: str, place: str, schema: Schema) -> Schema:
    return {"name": name, "in": place, "required": False, "schema": schema}


def _body(verb: str) -> Schema:
    if verb != "report":
        return {}
    example = {"version": VERSION, "id": EXAMPLE, "buyerstatus": [{"buyerseatid": "seat-107", "status": 4}]}
    content = {
        "schema": of_model(BuyerSeatRequest),
        "examples": {"active": {"summary": "It delivers", "value": example}},
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}
