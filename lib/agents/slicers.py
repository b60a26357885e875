"""Verbs about what there is: slicers, their fields, and the values of a field."""

from pydantic import Field

from lib.agents.answers import Json, head, rows, text
from lib.agents.verbs import Arguments, Filtered, Verb
from lib.python_client import Desk
from lib.reporting.models import TIME_KEY_FIELDS, DataField, KeyField, Slicer
from lib.reporting.models import Filter as ReportFilter
from lib.wire.errors import UnknownName


class NoArguments(Arguments):
    """None."""


def list_slicers(desk: Desk, arguments: NoArguments) -> Json:
    """The slicers with their days."""
    listed = []
    for name in desk.slicers():
        slicer = desk.info(name)
        days = [slicer.first_date, slicer.last_date]
        listed.append({"slicer": name, "about": text(slicer.annotation or ""), "days": days})
    return {"count": len(listed), "slicers": listed}


class OfSlicer(Arguments):
    """A slicer, and what to look for in it."""

    slicer: str = Field(description="project/slicer")
    search: str = Field(default="", max_length=100, description="Only fields with this in name or title")


def describe_slicer(desk: Desk, arguments: OfSlicer) -> Json:
    """The fields of a slicer."""
    slicer, needle = desk.info(arguments.slicer), arguments.search.casefold()
    fields: list[KeyField | DataField] = [*slicer.data_fields, *slicer.key_fields]
    named = [one for one in fields if needle in f"{one.name} {one.description}".casefold()]
    times = [one.name for one in slicer.key_fields if one.name in TIME_KEY_FIELDS]
    described = [_field(one) for one in named if one.name not in times]
    return {
        "slicer": arguments.slicer,
        "days": [slicer.first_date, slicer.last_date],
        "hours_ahead_of_utc": slicer.timezone,
        "split_by_time": times,
        "count": len(described),
        "fields": described,
        "link": desk.link(desk.query(arguments.slicer)),
    }


def _field(one: KeyField | DataField) -> Json:
    """As short as it can be: a slicer may have a hundred."""
    facts: Json = {"key" if isinstance(one, KeyField) else "data": one.name}
    if one.description and one.description != one.name:
        facts["title"] = text(one.description)
    return facts | ({"several_per_record": True} if isinstance(one, KeyField) and one.is_segmented else {})


class FindValues(Filtered):
    """A key field, and what its values have in them."""

    field: str
    contains: str = Field(default="", max_length=200, description="In the value or its description")
    limit: int = Field(default=20, ge=1, le=100)


def find_values(desk: Desk, arguments: FindValues) -> Json:
    """The values of a key field with the most of the slicer's first data field."""
    slicer = desk.info(arguments.slicer)
    if arguments.field not in (names := [one.name for one in slicer.key_fields]):
        raise UnknownName("key field", arguments.field, names)
    parts = arguments.parts(split=arguments.field, limit=arguments.limit)
    measure = _measure(slicer)
    if measure is not None:
        parts |= {"fields": [measure], "order": [f"-{measure}"]}
    if arguments.contains:
        part = ReportFilter(
            name=arguments.field,
            match="contains",
            value=(arguments.contains,),
            case_insensitive=1,
            search_mappings=1,
        )
        parts["filters"] = [*parts["filters"], part]
    answer = desk.ask(arguments.slicer, descriptions=True, **parts)
    count = answer.audience.total.records_found
    return head(answer) | {"count": count, "values": rows(answer)}


def _measure(slicer: Slicer) -> str | None:
    return next((one.name for one in slicer.data_fields if not one.formula), None)


VERBS = (
    Verb(
        "list_slicers",
        "The reports (slicers) that you may see, with their first and last day of data.",
        NoArguments,
        list_slicers,
        "slicers",
        "Ask about one by describe_slicer",
    ),
    Verb(
        "describe_slicer",
        "A slicer's key fields (to filter and split by) and data fields (figures).",
        OfSlicer,
        describe_slicer,
        "fields",
        "Give a word in `search`",
    ),
    Verb(
        "find_values",
        "Values of a key field, those with the most volume first: how a country, site or deal is written.",
        FindValues,
        find_values,
        "values",
        "Give a part of the value in `contains`",
    ),
)
