"""Questions as a script writes them, turned into those of the reporting API, and checked."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

from lib.reporting import dates, requests
from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, DataFilter, ExportQuery, Filter, Slicer

DateLike = str | dt.date
Names = str | Iterable[str]
Query = TypeVar("Query", AudienceQuery, ExportQuery)
USUAL_DAYS = 7


class QuestionParts(TypedDict, total=False):
    """What a question may have. Without dates it is about the last seven complete days with data.

    `start` and `end` are dates or what the API takes: `-7d`, `yesterday`, `-1m_first`. `filters` is a mapping
    from key fields to the value or values that they equal, or Filters (also as dictionaries); `having` are
    filters by figures, as `("imps", ">", 1000)`. `order` names fields, with a minus before those that fall.
    `timezone` is whole hours ahead of UTC, `source` an audience source.
    """

    start: DateLike
    end: DateLike
    split: Names
    fields: Names
    filters: Mapping[str, str | Sequence[str]] | Iterable[Filter | Mapping[str, Any]]
    having: Iterable[DataFilter | tuple[str, str, float]]
    order: Names
    limit: int
    offset: int
    timezone: int
    source: str


def query(
    model: type[Query], pair: tuple[str, str], slicer: Slicer, parts: QuestionParts, **more: Any
) -> Query:
    """The question about this slicer. BadRequest says what is wrong; UnknownName has the nearest name."""
    start, end = dates.last_days(slicer, dates.today(slicer.timezone), USUAL_DAYS)
    fields: dict[str, Any] = {
        "project_name": pair[0],
        "slicer_name": pair[1],
        "start_date": _date(parts.get("start", start)),
        "end_date": _date(parts.get("end", end)),
        "split_by": _names(parts.get("split", ())),
        "filters": [*map(_filter, _filters(parts.get("filters", ())))],
        "data_filters": [*map(_data_filter, parts.get("having", ()))],
        "order_by": [*map(_order, _names(parts.get("order", ())))],
    }
    if "fields" in parts:
        fields["data_fields"] = _names(parts["fields"])
    renamed = {"source": "audience_key"}
    for name in ("limit", "offset", "timezone", "source"):
        if name in parts:
            fields[renamed.get(name, name)] = parts[name]  # type: ignore[literal-required]
    query = requests.question(model, fields | more)
    requests.check(query, slicer)
    days_of(query, slicer)
    return query


def days_of(query: AudienceQuery | ExportQuery, slicer: Slicer) -> Days:
    """The days that a question is about; BadRequest where its dates are none."""
    zone = slicer.timezone if query.timezone is None else query.timezone
    return dates.date_range(query.start_date, query.end_date, dates.today(zone))


def _date(value: DateLike) -> str:
    return value.isoformat() if isinstance(value, dt.date) else value


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _filters(filters: Any) -> Iterable[Any]:
    if not isinstance(filters, Mapping):
        return filters or ()
    return [
        {"name": name, "match": "equals", "value": [value] if isinstance(value, str) else list(value)}
        for name, value in filters.items()
    ]


def _filter(one: Filter | Mapping[str, Any]) -> Any:
    return one.model_dump() if isinstance(one, Filter) else one


def _data_filter(one: DataFilter | tuple[str, str, float]) -> Any:
    if isinstance(one, DataFilter):
        return one.model_dump()
    return dict(zip(("name", "match", "value"), one, strict=False)) if isinstance(one, tuple | list) else one


def _order(name: str) -> dict[str, str]:
    return {"name": name.removeprefix("-"), "direction": "desc" if name.startswith("-") else "asc"}
