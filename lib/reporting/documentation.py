"""The reporting endpoints in /openapi.json: bodies, responses and worked examples."""

from typing import Any

from lib.reporting.answers.as_arrow import MEDIA_TYPE
from lib.reporting.confidence import LEVEL
from lib.reporting.formats import FORMATS
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, Slicer
from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    InternalError,
    StoreAway,
    StoreUnwritable,
    Throttled,
)
from lib.wire.schemas import NUMBER, TEXT, Schema, a_list, an_object, of_model

NULL: Schema = {"type": "null"}
WHERE = {"slicer_name": "delivery", "project_name": "demo", "token": "<TOKEN>"}
PERIOD = {"start_date": "-7d", "end_date": "yesterday"}
COUNTRY = "bid_context_wrapper.user.geo.country"
FILES = dict.fromkeys(one.media_type.partition(";")[0] for one in FORMATS.values())

AUDIENCE_EXAMPLES: dict[str, tuple[str, Schema]] = {
    "countries": ("A week by country", PERIOD | {"split_by": [COUNTRY]}),
    "filtered": (
        "Two countries by day, found by their names",
        PERIOD
        | {
            "filters": [
                {
                    "name": COUNTRY,
                    "match": "equals",
                    "value": ["Germany", "France"],
                    "search_mappings": 1,
                }
            ],
            "split_by": ["granularity_day", COUNTRY],
        },
    ),
    "top": (
        "The five largest sites, with ranges (extensions)",
        PERIOD
        | {
            "split_by": ["bid_context_wrapper.supply.site_id"],
            "order_by": [{"name": "imps", "direction": "desc"}],
            "limit": 5,
            "precision": 1,
        },
    ),
}
EXPORT_EXAMPLES: dict[str, tuple[str, Schema]] = {
    "csv": ("A week by country", PERIOD | {"split_by": [COUNTRY], "export_format": "csv"}),
    "total": (
        "Days with more than 1,000 impressions, and a total",
        PERIOD
        | {
            "split_by": ["granularity_day"],
            "export_format": "xls",
            "include_total": 1,
            "data_filters": [{"name": "imps", "match": ">", "value": 1000}],
        },
    ),
}


AWAY = "The database can't be reached right now; nothing was changed. Try again later"
RETRY: Schema = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}
PRECISE = {"low": NUMBER, "high": NUMBER, "n_eff": NUMBER}
CELL = an_object({"name": TEXT, "value": NUMBER}, {"percent": NUMBER} | PRECISE)
ROW = an_object(
    {"data": a_list(CELL), "name": a_list(TEXT)}, {"description": a_list(TEXT), "confidence_range": TEXT}
)
TOTAL = an_object(
    {"data": a_list(CELL), "records_found": {"type": "integer"}, "dates": a_list(TEXT | {"format": "date"})},
    {"confidence_range": TEXT, "missing": a_list(an_object({"name": TEXT, "value": NUMBER}))},
)
PRECISION = an_object(
    {
        "records_read": {"type": "integer"},
        "records_in_range": {"type": "integer"},
        "unread": a_list(TEXT),
    },
    {"exact_milliseconds": {"type": "integer"}},
)
ANSWER = an_object(
    {"status": {"const": "success"}, "total": TOTAL, "rows": a_list(ROW)}, {"precision": PRECISION}
) | {"title": "Audience"}
ANSWER_EXAMPLE = {
    "status": "success",
    "total": {
        "data": [{"name": "imps", "value": 41250}, {"name": "ctr", "value": 0.31}],
        "records_found": 2,
        "dates": ["2026-01-30", "2026-01-31"],
    },
    "rows": [
        {
            "data": [{"name": "imps", "value": 33000, "percent": 80}, {"name": "ctr", "value": 0.3}],
            "name": ["US"],
        },
        {
            "data": [{"name": "imps", "value": 8250, "percent": 20}, {"name": "ctr", "value": 0.35}],
            "name": ["CA"],
        },
    ],
}


def _request(
    model: type[InfoQuery], examples: dict[str, tuple[str, Schema]], most_values: int | None = None
) -> Schema:
    schema = of_model(model)
    if most_values is not None:
        schema["properties"]["filters"]["items"]["properties"]["value"]["maxItems"] = most_values
    optional = {*schema["properties"]} - {*schema["required"]}
    properties = {
        name: _or_null(field) if name in optional else field for name, field in schema["properties"].items()
    }
    schema["properties"] = {"token": TEXT | {"description": "Access token"}} | properties
    schema["required"] = ["token", *schema["required"]]
    labeled_examples = {
        name: {"summary": summary, "value": WHERE | body} for name, (summary, body) in examples.items()
    }
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": schema, "examples": labeled_examples}},
        }
    }


def _or_null(field: Schema) -> Schema:
    """The schema of an optional field of a request: null counts as absent."""
    usual = {"default": field["default"]} if "default" in field else {}
    kinds = {name: part for name, part in field.items() if name != "default"}
    either = kinds["anyOf"] if kinds.keys() == {"anyOf"} else [kinds]
    return usual | {"anyOf": [*(kind for kind in either if kind != NULL), NULL]}


def _failure(status: str, description: str, reason: str) -> Schema:
    schema = an_object({"status": {"const": status}, "reason": TEXT})
    schema["title"] = "".join(word.capitalize() for word in status.split("_"))
    example = {"status": status, "reason": reason}
    return {
        "description": description,
        "content": {"application/json": {"schema": schema, "example": example}},
    }


FAILURES: dict[int | str, Schema] = {
    BadRequest.http: _failure(
        "bad_request", "The request is wrong; `reason` says how", "start_date is required"
    ),
    AccessError.http: _failure("access_error", "Wrong token, or no access", AccessError().reason),
    413: _failure(
        "bad_request", "The body is too large", "The request is larger than the 1,048,576 bytes allowed"
    ),
    Throttled.http: _failure(
        "bad_request",
        "Too many requests with this token; Retry-After says how many seconds to wait",
        "More than 300 requests a minute; try again in 12 seconds",
    )
    | {"headers": RETRY},
    InternalError.http: _failure(
        "internal_error", "A failure of the service", "The service had an internal error"
    ),
    StoreAway.http: _failure(
        "internal_error", "A database is away; Retry-After says how many seconds to wait", AWAY
    )
    | {"headers": RETRY},
    StoreUnwritable.http: _failure("internal_error", "The disk is full or read-only", StoreUnwritable.REASON),
    DeadlineExceeded.http: _failure(
        "timeout", "The query took too long", "The query took longer than the 30 seconds allowed"
    ),
}


def _success(description: str, content: Schema) -> dict[int | str, Schema]:
    return {200: {"description": description, "content": content}}


SLICERS: dict[str, Any] = {
    "summary": "The slicers that the token opens",
    "description": "An extension of ours: the specification has no list of slicers.",
    "openapi_extra": {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": an_object({"token": TEXT | {"description": "Access token"}}),
                    "examples": {"mine": {"summary": "All of mine", "value": {"token": WHERE["token"]}}},
                }
            },
        }
    },
    "responses": _success(
        "Project and name of each",
        {
            "application/json": {
                "schema": an_object(
                    {
                        "status": {"const": "success"},
                        "slicers": a_list(an_object({"project_name": TEXT, "slicer_name": TEXT})),
                    }
                )
                | {"title": "Slicers"},
            }
        },
    )
    | FAILURES,
}
INFO: dict[str, Any] = {
    "summary": "What a slicer is",
    "description": "Time zone, dates, key fields, data fields and audience sources. `extensions` is our own: "
    "what this service supports beyond the specification; so are `engine`, `as_of`, and `restrictions`: "
    "filters that every question of this caller has beside its own.",
    "openapi_extra": _request(InfoQuery, {"slicer": ("A slicer", {})}),
    "responses": _success("The slicer", {"application/json": {"schema": of_model(Slicer, "serialization")}})
    | FAILURES,
}


def audience(most_values: int) -> dict[str, Any]:
    """The documentation of /audience; a filter may have `most_values` values."""
    return {
        "summary": "Figures, filtered and split",
        "description": "Sampled when more records are in range than the maximum sample rows, "
        f"`audience_rows_limit`; `confidence_range` is then the {LEVEL} confidence interval, in percent. "
        "Extensions of ours: data_fields, data_filters (rows by their figures; the total stays that "
        "of the whole), include_mappings, order_by, limit, offset, audience_key, precision, exact_within, "
        "same_precision_as (other days, as pairs of dates: all are exact, or samples of one rate), "
        "and own_fields (formulas over data fields, to be named wherever a data field is).",
        "openapi_extra": _request(AudienceQuery, AUDIENCE_EXAMPLES, most_values),
        "responses": _success(
            "The figures",
            {
                "application/json": {"schema": ANSWER, "example": ANSWER_EXAMPLE},
                MEDIA_TYPE: {"schema": TEXT | {"format": "binary"}},
            },
        )
        | FAILURES,
    }


def export(most_values: int) -> dict[str, Any]:
    """The documentation of /export; a filter may have `most_values` values."""
    return {
        "summary": "The same as a file",
        "description": "Never sampled. xlsx is an extension of ours, as are data_fields, own_fields, "
        "order_by, limit, offset, audience_key, full_digits (1: csv and tsv are not rounded) and "
        "escape_formulas (0: texts that a spreadsheet would run get no apostrophe); "
        "the elements of data_filters are our own choice.",
        "openapi_extra": _request(ExportQuery, EXPORT_EXAMPLES, most_values),
        "responses": _success("The file", {media: {"schema": TEXT | {"format": "binary"}} for media in FILES})
        | FAILURES,
    }
