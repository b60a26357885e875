"""Verbs about reports: what there is (slicers, fields, values), a question, and what moved a figure."""

from collections.abc import Hashable, Mapping
from typing import Any

from pydantic import Field

from lib.agents.answers import ESTIMATE, EXACT, Json, figure, head, number, rows, text
from lib.agents.python_client import Desk
from lib.agents.verbs import Arguments, FigureFilter, SlicerSelection, Verb
from lib.figures.query.compared_answers import Coverage
from lib.reporting import time_filters
from lib.reporting.moved.quantity import Own
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import DataField, KeyField
from lib.wire.errors import BadRequest, UnknownName
from lib.wire.filters import Filter as ReportFilter
from lib.wire.filters import describe

MOST_MOVERS, USUAL, BY_TIME = 20, 20, 100


class NoArguments(Arguments):
    """None."""


def list_slicers(desk: Desk, arguments: NoArguments) -> Json:
    """The slicers with their days."""
    slicers = []
    for name in desk.slicers():
        slicer = desk.info(name)
        days = [slicer.first_date, slicer.last_date]
        slicers.append({"slicer": name, "about": text(slicer.annotation or ""), "days": days})
    return {"count": len(slicers), "slicers": slicers}


class OfSlicer(Arguments):
    """A slicer, and what to look for in it."""

    slicer: str = Field(description="project/slicer")
    search: str = Field("", max_length=100, description="Only fields with this in name or title")


def describe_slicer(desk: Desk, arguments: OfSlicer) -> Json:
    """The fields of a slicer."""
    slicer, needle = desk.info(arguments.slicer), arguments.search.casefold()
    fields: list[KeyField | DataField] = [*slicer.data_fields, *slicer.key_fields]
    matches = [field for field in fields if needle in f"{field.name} {field.description}".casefold()]
    times = [field.name for field in slicer.key_fields if field.name in TIME_KEY_FIELDS]
    entries = [_field(field) for field in matches if field.name not in times]
    return {
        "slicer": arguments.slicer,
        "days": [slicer.first_date, slicer.last_date],
        "hours_ahead_of_utc": slicer.timezone,
        **({"only_rows_where": text(describe(slicer.restrictions))} if slicer.restrictions else {}),
        "split_by_time": times,
        "count": len(entries),
        "fields": entries,
        "link": desk.link(desk.query(arguments.slicer)),
    }


def _field(field: KeyField | DataField) -> Json:
    """As short as it can be: a slicer may have a hundred."""
    facts: Json = {"key" if isinstance(field, KeyField) else "data": field.name}
    if field.description and field.description != field.name:
        facts["title"] = text(field.description)
    if isinstance(field, DataField) and field.currency:
        facts["currency"] = text(field.currency)
    if isinstance(field, KeyField) and field.is_segmented:
        facts["several_per_record"] = True
    return facts


class FindValues(SlicerSelection):
    """A key field, and what its values have in them."""

    field: str
    contains: str = Field("", max_length=200, description="In the value or its description")
    limit: int = Field(20, ge=1, le=100)


def find_values(desk: Desk, arguments: FindValues) -> Json:
    """The values of a key field with the most of the slicer's first data field."""
    slicer = desk.info(arguments.slicer)
    if arguments.field not in (names := slicer.key_names):
        raise UnknownName("key field", arguments.field, names)
    parts = arguments.parts(split=arguments.field, limit=arguments.limit)
    measure = next((field.name for field in slicer.data_fields if not field.formula), None)
    if measure is not None:
        parts |= {"fields": [measure], "order": [f"-{measure}"]}
    if arguments.contains:
        part = ReportFilter(
            name=arguments.field, match="contains", value=(arguments.contains,), case_insensitive=1,
            search_mappings=1,
        )  # fmt: skip
        parts["filters"] = [*parts["filters"], part]
    answer = desk.ask(arguments.slicer, descriptions=True, **parts)
    count = answer.audience.total.records_found
    return head(answer) | {"count": count, "values": rows(answer)}


class Ask(SlicerSelection):
    """A question."""

    fields: list[str] = Field(min_length=1, max_length=10, description="Data fields")
    split: list[str] = Field([], max_length=3, description="Key fields, or granularity_day and the like")
    having: list[FigureFilter] = Field([], max_length=10, description="Keep rows by their figures")
    order: str | None = Field(None, description="A field; with a minus before it, the largest first")
    limit: int | None = Field(None, ge=1, le=200, description="Rows; default 20, by time 100")


def ask(desk: Desk, arguments: Ask) -> Json:
    """Totals and rows of a question. The totals are of all rows, also of those not shown."""
    having = [(condition.field, condition.match, condition.value) for condition in arguments.having]
    first = f"-{arguments.fields[0]}"
    is_by_time = any(name.startswith("granularity_") for name in arguments.split)
    order = arguments.order or ("" if is_by_time or not arguments.split else first)
    more: dict[str, Any] = {"split": arguments.split, "fields": arguments.fields, "having": having}
    if arguments.split:
        more["limit"] = arguments.limit or (BY_TIME if is_by_time else USUAL)
    if order:
        more["order"] = order
    answer = desk.ask(arguments.slicer, descriptions=True, **arguments.parts(**more))
    totals = {name: figure(answer.estimate(name)) for name in arguments.fields}
    result: Json = head(answer) | {"totals": totals}
    if arguments.split:
        result |= {"count": answer.audience.total.records_found, "rows": rows(answer)}
    return result


class MovedField(SlicerSelection):
    """A figure, and the days to compare."""

    field: str = Field(description="A data field")
    before_start: str | None = Field(None, description="Default: the same part of the period before")
    before_end: str | None = None
    key_fields: list[str] = Field([], max_length=30, description="Default: all")


def what_moved(desk: Desk, arguments: MovedField) -> Json:
    """The values that explain a change, the strongest first."""
    before = (arguments.before_start, arguments.before_end)
    if (before[0] is None) != (before[1] is None):
        raise BadRequest("before_start and before_end belong together: give both or none")
    days = None if before[0] is None or before[1] is None else (before[0], before[1])
    movement = desk.what_moved(
        arguments.slicer, arguments.field, before=days, key_fields=arguments.key_fields, **arguments.parts()
    )
    result, frame = movement.moved, movement.frame
    now = desk.ask(arguments.slicer, **arguments.parts(fields=[arguments.field]))
    ends = {"start": movement.before[0].isoformat(), "end": movement.before[1].isoformat()}
    earlier = desk.ask(arguments.slicer, **arguments.parts(fields=[arguments.field], **ends))
    whole = earlier.estimate(arguments.field)
    is_scaled = bool(whole.value) and whole.value != result.before
    query = desk.query(arguments.slicer, **arguments.parts())
    sides = [len(time_filters.days(query, days)) for days in (movement.now, movement.before)]
    coverage = Coverage(result.days[0], sides[0], result.days[1], sides[1])
    basis = whole.times(result.before / whole.value) if is_scaled and whole.value else whole
    return {
        "field": arguments.field,
        "days": [day.isoformat() for day in movement.now],
        "before_days": [day.isoformat() for day in movement.before],
        "now": figure(now.estimate(arguments.field)),
        "before": figure(basis),
        "change": number(result.difference),
        "change_percent": None
        if coverage.is_thin or not result.before
        else number(100 * result.difference / abs(result.before)),
        "days_with_data": coverage.text or "all",
        "precision": EXACT if now.is_exact and earlier.is_exact else ESTIMATE,
        "contributions": "own changes; they don't add up"
        if isinstance(result.kind, Own)
        else "parts of the change",
        "compared_with_earlier_differences": result.weeks,
        "values_considered": result.value_count,
        "changed_alike": [field.name for field in result.alike],
        "count": len(frame),
        "movers": [_mover(row) for row in frame.head(MOST_MOVERS).to_dict("records")],
        "link": movement.link,
    }


def _mover(row: Mapping[Hashable, Any]) -> Json:
    texts = {name: text(row[name]) for name in ("value", "description")}
    figures = {name: number(row[name]) for name in ("contribution", "before", "now")}
    parts = {name: number(row[name]) for name in ("rate", "mix", "volume_before", "volume_now")}
    figures |= {name: part for name, part in parts.items() if part is not None}
    return {"key_field": row["key_field"]} | texts | figures


VERBS = (
    Verb(
        "list_slicers", "The reports (slicers) that you may see, with their first and last day of data.",
        NoArguments, list_slicers, "slicers", "Ask about one by describe_slicer",
    ),
    Verb(
        "describe_slicer", "A slicer's key fields (to filter and split by) and data fields (figures).",
        OfSlicer, describe_slicer, "fields", "Give a word in `search`",
    ),
    Verb(
        "find_values",
        "Values of a key field, those with the most volume first: how a country, site or deal is written.",
        FindValues, find_values, "values", "Give a part of the value in `contains`",
    ),
    Verb(
        "ask", "Figures of a slicer: totals, and rows by key fields or time, filtered and ordered.", Ask, ask
    ),
    Verb(
        "what_moved",
        "Why a figure changed between two periods: the values of all key fields that moved beyond noise.",
        MovedField, what_moved, "movers", "Name fewer `key_fields`, or filter",
    ),
)  # fmt: skip
