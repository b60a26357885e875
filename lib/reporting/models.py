"""What can be asked of a slicer (lib/slicers/models.py): the queries of the reporting API.

Names and types are those of the reporting specification ("Resources and their fields"). Fields marked
*extension* are our own; a service that knows the specification alone does not expect them. The answer to an
AudienceQuery is an Audience (answers/). Some types accept more forms than they write: what has one meaning is
read (decisions: leniency where the meaning is plain).
"""

from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from lib.slicers import zones
from lib.slicers.dates import RELATIVE
from lib.slicers.models import Number, Order, OwnField, Whole, read_number
from lib.slicers.zones import Zone
from lib.wire.filters import DataMatch, Flag, Texts, Value
from lib.wire.filters import Filter as Filter  # questions have it, and grants

ExportFormat = Literal["xls", "csv", "tsv", "tsv2", "xlsx"]
API_ROWS_LIMIT = 1_000_000
DESK_ROWS_LIMIT = 10_000
ROWS_LIMITS = (10_000, 10_000_000)
MOST_GROUPS, MOST_ALTERNATIVES = 20, 50
MOST_RECORDS = 1_000
MAX_SPLIT_ROWS = 1_000_000
FilterGroup = Annotated[tuple[Filter, ...], Field(min_length=1, max_length=MOST_ALTERNATIVES)]
"""Filters of which any holds."""
DateValue = Annotated[
    str,
    WithJsonSchema(
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "pattern": RELATIVE}]}
    ),
]
Names = Annotated[Texts, Field(json_schema_extra={"uniqueItems": True})]


def _zone(value: Any) -> Zone:
    if isinstance(value, str) and value in zones.names():
        return value
    try:
        hours = int(value) if float(read_number(value)).is_integer() else None
    except (ValueError, TypeError, OverflowError):
        near = get_close_matches(str(value), zones.names(), 1)
        hint = f"did you mean '{near[0]}'?" if near else "write a name like Europe/Berlin, or hours like 2"
        text = str(value)[:40].encode(errors="backslashreplace").decode()
        raise ValueError(f"'{text}' is no time zone; {hint}") from None
    if hours is None or abs(hours) > 12:
        raise ValueError("must be whole hours from -12 to 12, or a name like Europe/Berlin")
    return hours


def _limit(value: Any) -> Any:
    """-1 is no limit (decisions: `limit: -1`)."""
    return None if value in (-1, "-1") else read_number(value)


TimeZone = Annotated[
    Zone,
    BeforeValidator(_zone),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": -12, "maximum": 12},
                {"type": "string", "pattern": "^[A-Z][A-Za-z]+/[A-Za-z0-9_+/-]+$"},
            ]
        }
    ),
]
"""Whole hours ahead of UTC, or (*extension*) a name of the IANA database."""
Limit = Annotated[
    Annotated[int, Field(ge=0)] | None,
    BeforeValidator(_limit),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": -1}, {"type": "null"}]}),
]
Milliseconds = Annotated[int, Field(ge=0, le=3_600_000), BeforeValidator(read_number)] | None


class DataFilter(Value):
    """Result rows whose data field compares so with `value`."""

    name: str
    match: DataMatch
    value: Number = Field(allow_inf_nan=False)


class InfoQuery(Value):
    """The name of a slicer."""

    slicer_name: str
    project_name: str


class Selection(InfoQuery):
    """The records of some days that pass all `filters`, and of each group of `any_of` (*extension*) any."""

    start_date: DateValue
    end_date: DateValue
    filters: tuple[Filter, ...] = ()
    any_of: tuple[FilterGroup, ...] = Field(default=(), max_length=MOST_GROUPS)
    timezone: TimeZone | None = None


class _Question(Selection):
    """The parameters that audience and export share."""

    split_by: Names = ()
    data_fields: Names | None = None
    own_fields: tuple[OwnField, ...] = Field(default=(), max_length=50)
    order_by: tuple[Order, ...] = ()
    limit: Limit = None
    offset: Whole = Field(default=0, ge=0)
    audience_key: str | None = None
    data_filters: tuple[DataFilter, ...] = Field(default=(), max_length=100)


class AudienceQuery(_Question):
    """The question. Frozen and hashable: a cache key, a link, a saved view.

    data_fields, own_fields, data_filters, any_of, include_mappings, order_by, limit, offset, audience_key,
    precision, exact_within and same_precision_as are *extensions*. Rows that a data filter leaves out are not
    counted in `records_found`; the total stays that of the whole. With `exact_within` every record is read
    where that is expected to take at most so many milliseconds, whatever `audience_rows_limit` says.
    `same_precision_as` has other days (first, last) that are asked about too: where one of these answers has
    to be a sample, all are, at one rate.
    """

    audience_rows_limit: Whole = Field(default=API_ROWS_LIMIT, ge=ROWS_LIMITS[0], le=ROWS_LIMITS[1])
    include_mappings: Flag = 0
    precision: Flag = 0
    exact_within: Milliseconds = None
    same_precision_as: tuple[tuple[DateValue, DateValue], ...] = Field(default=(), max_length=20)


class ExportQuery(_Question):
    """The same question, as a file.

    data_fields, own_fields, any_of, order_by, limit, offset, audience_key, escape_formulas, full_digits and
    the format xlsx are *extensions*. Programs that read csv or tsv turn `escape_formulas` off to get texts
    as they are; `full_digits` gives csv and tsv the digits of tsv2, where they are rounded as shown
    otherwise.
    """

    export_format: ExportFormat
    include_mappings: Flag | None = None
    include_total: Flag = 0
    escape_formulas: Flag = 1
    full_digits: Flag = 0

    @property
    def with_mappings(self) -> bool:
        """Whether descriptions are included: by default for one key field, not for several."""
        return len(self.split_by) == 1 if self.include_mappings is None else bool(self.include_mappings)

    @property
    def precision(self) -> int:
        """A file has no ranges."""
        return 0


class RecordsQuery(Selection):
    """The records of a selection, up to `limit` of them (*extension*).

    `columns` are fields: time key fields, key fields and data fields; of a formula its data fields. Without
    any, all with a value of their own. They come in the order of `order_by`, the latest first without one.
    `include_mappings` adds a column with the descriptions of each coded field; `export_format` makes a file
    of it all.
    """

    columns: Names | None = None
    order_by: tuple[Order, ...] = Field(default=(), max_length=20)
    limit: Whole = Field(default=MOST_RECORDS, ge=1, le=MOST_RECORDS)
    include_mappings: Flag = 0
    export_format: ExportFormat | None = None
    escape_formulas: Flag = 1
    full_digits: Flag = 0
