"""What the Python client asks and returns: questions; figures as pandas frames and Arrow tables."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar

import pandas as pd
import pyarrow as pa

from lib.reporting import named_days, requests
from lib.reporting.answers import Audience, Estimate
from lib.reporting.models import AudienceQuery, DataFilter, ExportQuery, RecordsQuery
from lib.reporting.moved.explain import Moved
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.models import Slicer
from lib.wire.filters import Filter

DateLike = str | dt.date
Names = str | Iterable[str]
Filters = Mapping[str, str | Sequence[str]] | Iterable[Filter | Mapping[str, Any]]
Query = TypeVar("Query", AudienceQuery, ExportQuery)
USUAL_DAYS = 7


class SelectionParts(TypedDict, total=False):
    """Days and filters. Without dates they are the last seven complete days with data.

    `start` and `end` are dates or what the API takes: `-7d`, `yesterday`, `-1m_first`. `filters` is a mapping
    from key fields to the value or values that they equal, or Filters (also as dictionaries); `any_of` are
    groups of such filters, of each of which any holds (a mapping alone is one group). `timezone` is whole
    hours ahead of UTC, or a name such as `Europe/Berlin`.
    """

    start: DateLike
    end: DateLike
    filters: Filters
    any_of: Mapping[str, str | Sequence[str]] | Iterable[Filters]
    timezone: int | str


class QuestionParts(SelectionParts, total=False):
    """What a question may have beside days and filters.

    `having` are filters by figures, as `("imps", ">", 1000)`. `order` names fields, with a minus before those
    that fall; `source` is an audience source.
    """

    split: Names
    fields: Names
    having: Iterable[DataFilter | tuple[str, str, float]]
    order: Names
    limit: int
    offset: int
    source: str


def query(
    model: type[Query], pair: tuple[str, str], slicer: Slicer, parts: QuestionParts, **more: Any
) -> Query:
    """The question about this slicer. BadRequest says what is wrong; UnknownName has the nearest name."""
    fields = _selection(pair, slicer, parts) | {
        "split_by": _names(parts.get("split", ())),
        "data_filters": [*map(_data_filter, parts.get("having", ()))],
        "order_by": [*map(_order, _names(parts.get("order", ())))],
    }
    if "fields" in parts:
        fields["data_fields"] = _names(parts["fields"])
    api_names = {"source": "audience_key"}
    for name in ("limit", "offset", "source"):
        if name in parts:
            fields[api_names.get(name, name)] = parts[name]  # type: ignore[literal-required]
    query = requests.parse(model, fields | more)
    requests.check(query, slicer)
    named_days.days_of(query, slicer)
    return query


def records_query(
    pair: tuple[str, str], slicer: Slicer, parts: SelectionParts, order: Names, **more: Any
) -> RecordsQuery:
    """The question about records of this slicer; errors are those of `query`, and of the service."""
    fields = _selection(pair, slicer, parts) | {"order_by": [*map(_order, _names(order))]}
    query = requests.parse(RecordsQuery, fields | more)
    requests.check_selection(query, slicer)
    named_days.days_of(query, slicer)
    return query


def _selection(pair: tuple[str, str], slicer: Slicer, parts: SelectionParts) -> dict[str, Any]:
    start, end = dates.last_days(slicer, dates.today(slicer.timezone), USUAL_DAYS)
    groups = parts.get("any_of", ())
    return {
        "project_name": pair[0],
        "slicer_name": pair[1],
        "start_date": _date(parts.get("start", start)),
        "end_date": _date(parts.get("end", end)),
        "filters": _filters(parts.get("filters", ())),
        "any_of": [_filters(group) for group in ([groups] if isinstance(groups, Mapping) else groups)],
    } | ({"timezone": parts["timezone"]} if "timezone" in parts else {})


def _date(value: DateLike) -> str:
    return value.isoformat() if isinstance(value, dt.date) else value


def _names(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _filters(filters: Filters | None) -> list[Any]:
    if not isinstance(filters, Mapping):
        return [filter_.model_dump() if isinstance(filter_, Filter) else filter_ for filter_ in filters or ()]
    return [
        {"name": name, "match": "equals", "value": [value] if isinstance(value, str) else list(value)}
        for name, value in filters.items()
    ]


def _data_filter(data_filter: DataFilter | tuple[str, str, float]) -> Any:
    if isinstance(data_filter, DataFilter):
        return data_filter.model_dump()
    is_row = isinstance(data_filter, tuple | list)
    return dict(zip(("name", "match", "value"), data_filter, strict=False)) if is_row else data_filter


def _order(name: str) -> dict[str, str]:
    return {"name": name.removeprefix("-"), "direction": "desc" if name.startswith("-") else "asc"}


@dataclass(frozen=True)
class Answer:
    """The answer to a question: its rows and totals. `days` are its days; `link` asks it on the desk."""

    query: AudienceQuery
    slicer: Slicer
    audience: Audience
    days: Days
    link: str

    @property
    def frame(self) -> pd.DataFrame:
        """A row per result row: a text column per key field of the split, then a float64 one per data field.

        NaN where there is no figure. Without a split, one row.
        """
        return pd.concat([self.audience.names, self.audience.values], axis="columns")

    @property
    def ranges(self) -> pd.DataFrame | None:
        """The 95 % ranges of the rows, as `<data field>.low` and `.high`; None where all are exact."""
        low, high = self.audience.low, self.audience.high
        if self.is_exact or low is None or high is None:
            return None
        both = {f"{name}.{end}": side[name] for name in low for end, side in (("low", low), ("high", high))}
        return pd.concat([self.audience.names, pd.DataFrame(both)], axis="columns")

    @property
    def arrow(self) -> pa.Table:
        return pa.Table.from_pandas(self.frame, preserve_index=False)

    @property
    def is_exact(self) -> bool:
        """Whether every record in range was read."""
        return not self.audience.is_sampled

    @property
    def total(self) -> dict[str, float | None]:
        """The totals of all rows, also of those beyond a limit, by data field."""
        return dict(self.audience.total.values)

    def estimate(self, field: str) -> Estimate:
        """The total of a data field with its 95 % range."""
        return self.audience.total_of(field)


@dataclass(frozen=True)
class WhatMoved:
    """The values that moved a data field between two periods; see Moved. `link` shows them on the desk."""

    field: str
    moved: Moved
    before: Days
    now: Days
    link: str

    @property
    def frame(self) -> pd.DataFrame:
        """A row per value that moved more than noise: key field, value, description, contribution, figures.

        Of ratios `rate` and `mix` add up to the contribution; the mix comes from the value's share of the
        volume, `volume_before` and `volume_now` (0 to 1). `overlapping` are values of key fields with several
        per record, which don't add up.
        """
        columns = ["key_field", "value", "description", "contribution", "before", "now", "overlapping"]
        ratio_columns = ["rate", "mix", "volume_before", "volume_now"]
        rows = [
            (
                quantity.name, mover.code, mover.words, mover.contribution, mover.before, mover.now,
                quantity.is_overlapping, mover.rate, mover.mix, *(mover.shares or (None, None)),
            )
            for quantity in self.moved.top
            for mover in quantity.movers
        ]  # fmt: skip
        frame = pd.DataFrame(rows, columns=pd.Index([*columns, *ratio_columns]))
        return frame.astype(dict.fromkeys(ratio_columns, float)).sort_values(
            ["overlapping", "contribution"],
            key=lambda column: column if column.name == "overlapping" else -column.abs(),
            ignore_index=True,
            kind="stable",
        )

    @property
    def arrow(self) -> pa.Table:
        return pa.Table.from_pandas(self.frame, preserve_index=False)
