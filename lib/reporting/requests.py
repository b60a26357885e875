"""Parses request bodies: lenient where the meaning is clear, strict everywhere else.

Errors say which field, what was wrong with it, and what would be right.
"""

from datetime import date
from itertools import chain
from typing import Any, TypeVar

import orjson
from pydantic import ValidationError

from lib.reporting import named_days
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, RecordsQuery, Selection
from lib.slicers import dates
from lib.slicers.models import Slicer
from lib.wire.errors import AccessError, BadRequest, UnknownName, problem_sentence

Question = TypeVar("Question", bound=InfoQuery)
ReportQuery = TypeVar("ReportQuery", AudienceQuery, ExportQuery, RecordsQuery)
Fields = dict[str, Any]


def read(body: bytes) -> tuple[str, Fields]:
    """The token, and the other fields, of a JSON body. An optional field that is null counts as absent.

    BadRequest where the body is no JSON object, AccessError where no token is in it.
    """
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadRequest('The body must be a JSON object, like {"slicer_name": "…", "project_name": "…"}')
    token = fields.pop("token", None)
    if not isinstance(token, str):
        raise AccessError
    return token, {name: value for name, value in fields.items() if value is not None}


def where(query: Fields | InfoQuery) -> tuple[str, str]:
    """The requested project and slicer. BadRequest if either is missing."""
    fields = fields_of(query)
    for name in ("project_name", "slicer_name"):
        if not isinstance(fields.get(name), str):
            raise BadRequest(f"{name} is required, as text")
    return fields["project_name"], fields["slicer_name"]


def fields_of(query: Fields | InfoQuery) -> Fields:
    """The fields of a request that are there."""
    return (
        query if isinstance(query, dict) else {name: getattr(query, name) for name in query.model_fields_set}
    )


def parse(model: type[Question], query: Fields | InfoQuery) -> Question:
    """The fields, or a query of this process, as that kind of question; BadRequest lists all errors.

    A query is checked too: one made by `model_copy` may hold anything.
    """
    fields = fields_of(query)
    for name in fields:
        if name not in model.model_fields:
            raise UnknownName("request field", name, model.model_fields)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise BadRequest("; ".join(dict.fromkeys(map(problem_sentence, problems)))) from None


def resolve(query: ReportQuery, slicer: Slicer) -> ReportQuery:
    """The query with days in place of relative dates, a zone, and what it leaves to us; see `check`."""
    zone = named_days.zone(query, slicer)
    today = dates.today(zone)
    first, last = _iso(query.start_date, query.end_date, today)
    changes: dict[str, Any] = {"timezone": zone, "start_date": first, "end_date": last}
    if isinstance(query, RecordsQuery):
        check_selection(query, slicer)
        return query.model_copy(update=changes)
    check(query, slicer.with_own(query.own_fields) if query.own_fields else slicer)
    if isinstance(query, AudienceQuery):
        changes["same_precision_as"] = tuple(_iso(*days, today) for days in query.same_precision_as)
    else:
        changes["include_mappings"] = int(query.with_mappings)
    return query.model_copy(
        update=changes | {"data_fields": query.data_fields or usual_fields(query, slicer)}
    )


def usual_fields(query: AudienceQuery | ExportQuery, slicer: Slicer) -> tuple[str, ...]:
    """The default data fields: all that are not optional; of several audience sources the requested one."""
    key, sources = query.audience_key, slicer.audience_sources
    others = {f"unique_{source.name}" for source in sources if key and source.name != key}
    return tuple(f.name for f in slicer.data_fields if not f.is_optional and f.name not in others)


def _iso(start: str, end: str, today: date) -> tuple[str, str]:
    first, last = dates.date_range(start, end, today)
    return first.isoformat(), last.isoformat()


def check(query: AudienceQuery | ExportQuery, slicer: Slicer) -> None:
    """Raise BadRequest if the question names fields that the slicer does not have."""
    keys = slicer.key_names
    data = slicer.data_names
    check_selection(query, slicer)
    for name in query.split_by:
        _check_name("key field", name, keys)
    _once("split_by", query.split_by)
    for name in query.data_fields or ():
        _check_name("data field", name, data)
    _once("data_fields", query.data_fields or ())
    for order in query.order_by:
        _check_name("field to order by", order.name, [*query.split_by, *data])
    _once("order_by", tuple(order.name for order in query.order_by))
    for filter_ in query.data_filters:
        _check_name("data field", filter_.name, data)
    if query.audience_key is not None:
        _check_name(
            "audience source", query.audience_key, [source.name for source in slicer.audience_sources]
        )


def check_selection(query: Selection, slicer: Slicer) -> None:
    """Raise BadRequest if filters name fields that the slicer does not have, or the zone is another one's."""
    keys = slicer.key_names
    for filter_ in chain(query.filters, *query.any_of):
        _check_name("key field", filter_.name, keys)
    if not slicer.supports_timezone and query.timezone not in (None, slicer.timezone):
        raise BadRequest(
            f"This slicer has daily data in its own timezone, {slicer.timezone}; leave timezone out"
        )


def check_values(query: Selection, most: int) -> None:
    """Raise BadRequest if a filter has more than `most` values, or all of a group together."""
    filters = [(f"filters[{number}].value", [filter_]) for number, filter_ in enumerate(query.filters)]
    groups = [(f"any_of[{number}]", group) for number, group in enumerate(query.any_of)]
    for field, alternatives in (*filters, *groups):
        if (count := sum(len(filter_.value) for filter_ in alternatives)) > most:
            raise BadRequest(f"{field} has {count:,} values; a filter may have {most:,}")


def _check_name(kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        raise UnknownName(kind, name, names)


def _once(field: str, names: tuple[str, ...]) -> None:
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise BadRequest(f"{field} names {', '.join(duplicates)} more than once")
