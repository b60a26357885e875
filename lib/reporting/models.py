"""The nouns of the reporting API: what a slicer is, and what can be asked of it.

Names and types are those of the reporting specification ("Resources and their fields"). Fields marked
*extension* are our own (info lists them in `extensions`); a service that knows the specification alone
neither sends nor expects them. The answer to an AudienceQuery is an Audience (answers/).

Some types accept more forms than they write. Of a request: what has one meaning is read (decisions: leniency
where the meaning is plain). Of an info answer: services write numbers and flags as texts, and null or an
empty text for what is at its default.
"""

from collections.abc import Iterable
from datetime import date
from difflib import get_close_matches
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from lib.reporting import zones
from lib.reporting.dates import RELATIVE
from lib.reporting.formats import FORMATS, ExportFormat
from lib.reporting.zones import Zone
from lib.wire.filters import DataMatch, Flag, Texts, Value
from lib.wire.filters import Filter as Filter  # questions have it, and grants

Direction = Literal["asc", "desc"]
Granularity = Literal["hour", "day", "week", "month", "quarter", "year"]
DURATION = "h:mm:ss"
"""The display pattern of seconds that are shown as hours, minutes and seconds."""
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
EXTENSIONS = (
    "data_fields", "own_fields", "data_filters", "any_of", "include_mappings", "order_by", "limit", "offset",
    "audience_key", "precision", "exact_within", "same_precision_as", "escape_formulas", "full_digits",
    "restrictions", "engine", "as_of", "polarity", "role", "records", "time_zones",
    *(name for name, format_ in FORMATS.items() if not format_.plain_words), "arrow",
)  # fmt: skip
API_ROWS_LIMIT = 1_000_000
DESK_ROWS_LIMIT = 10_000
ROWS_LIMITS = (10_000, 10_000_000)
MOST_GROUPS, MOST_ALTERNATIVES = 20, 50
MOST_RECORDS = 1_000
MAX_SPLIT_ROWS = 1_000_000
FilterGroup = Annotated[tuple[Filter, ...], Field(min_length=1, max_length=MOST_ALTERNATIVES)]
MOST_DECIMALS = 15
FLAGS = {"0": 0, "false": 0, "no": 0, "1": 1, "true": 1, "yes": 1}
DateValue = Annotated[
    str,
    WithJsonSchema(
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "pattern": RELATIVE}]}
    ),
]
Names = Annotated[Texts, Field(json_schema_extra={"uniqueItems": True})]
Polarity = Literal["up", "down", "none"]
LenientPolarity = Annotated[
    Polarity, BeforeValidator(lambda value: value if value in get_args(Polarity) else "none")
]
"""Whether a rise is good news (`up`), a fall (`down`), or neither; an extension, `none` where not sent."""


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


def _zone(value: Any) -> Zone:
    if isinstance(value, str) and value in zones.names():
        return value
    try:
        hours = int(value) if float(_number(value)).is_integer() else None
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
    return None if value in (-1, "-1") else _number(value)


def _lenient_flag(value: Any) -> Any:
    return FLAGS.get(str(value).lower(), value)


def _day(value: Any) -> Any:
    """`YYYY-MM-DD` of a date or a time; invalid dates count as missing."""
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        return None


def use_defaults(usual: Any) -> BeforeValidator:
    """Sets fields that a response leaves null or empty to their defaults."""
    return BeforeValidator(lambda value: usual if value in (None, "") else value)


Whole = Annotated[int, BeforeValidator(_number)]
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
Number = Annotated[float, BeforeValidator(_number)]
Limit = Annotated[
    Annotated[int, Field(ge=0)] | None,
    BeforeValidator(_limit),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": -1}, {"type": "null"}]}),
]
Milliseconds = Annotated[int, Field(ge=0, le=3_600_000), BeforeValidator(_number)] | None
LenientFlag = Annotated[Literal[0, 1], BeforeValidator(_lenient_flag), use_defaults(0)]
LenientText = Annotated[str, use_defaults("")]
LenientName = Annotated[str | None, use_defaults(None)]
Day = Annotated[str | None, BeforeValidator(_day)]
Decimals = Annotated[int, AfterValidator(lambda places: min(max(places, 0), MOST_DECIMALS)), use_defaults(0)]


def time_key_field(granularity: Granularity) -> str:
    """`granularity_day` and its siblings: the name of the key field that splits by time."""
    return f"granularity_{granularity}"


TIME_KEY_FIELDS: dict[str, Granularity] = {time_key_field(grain): grain for grain in GRANULARITIES}


class Descriptor(BaseModel):
    """Part of an info answer. Fields that we don't know are kept, not refused: a service may send more."""

    model_config = ConfigDict(frozen=True, extra="allow")


class KeyField(Descriptor):
    """A key field: what a slicer can be filtered and split by. `role` is an *extension*."""

    name: str
    description: LenientText = ""
    annotation: str | None = ""
    type: Annotated[str, use_defaults("text")] = "text"
    is_segmented: LenientFlag = 0
    mapping: LenientName = None
    link: LenientName = None
    role: LenientName = None


class DataField(Descriptor):
    """A data field: what is counted. `role`, what it is in a funnel, is an *extension*."""

    name: str
    description: LenientText = ""
    annotation: str | None = ""
    display_type: Annotated[str, use_defaults("int")] = "int"
    display_precision: Decimals = 0
    display_pattern: LenientName = None
    formula: LenientName = None
    formula_description: LenientName = None
    is_optional: LenientFlag = 0
    access: Any = None
    show_percents: Annotated[int, use_defaults(1)] = 1
    polarity: LenientPolarity = "none"
    role: LenientName = None


class OwnField(BaseModel):
    """A data field of the caller's own: a formula over data fields of the slicer. *Extension.*"""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    formula: str = Field(min_length=1, max_length=2_000)
    description: str = Field(default="", max_length=200)
    display_precision: int = Field(default=2, ge=0, le=10, strict=True)
    display_pattern: str | None = Field(default=None, max_length=50)

    @property
    def data_field(self) -> DataField:
        """It as the slicer's own data fields are described; files and headlines have it on request only."""
        fields = self.model_dump() | {"description": self.description or self.name}
        return DataField(**fields, display_type="float", is_optional=1)


class AudienceSource(Descriptor):
    """A source of unique users; gives the data field `unique_<name>`."""

    name: str
    description: LenientText = ""
    annotation: str | None = ""


class Slicer(Descriptor):
    """The answer of info about a slicer (specification, Info response fields).

    Our own: what the `engine` reads, such as "PostgreSQL, live", and `as_of`, the UTC moment (ISO 8601) of
    the last import, or at which the days of a table were last compared with it. `own_fields` are fields
    beside those of info, which are among its `data_fields` too. `restrictions` are filters that every
    question of this caller has beside its own: rows outside don't exist for them.
    """

    status: Literal["success"] = "success"
    timezone: Annotated[int, use_defaults(0)] = 0
    supports_timezone: Annotated[LenientFlag, use_defaults(1)] = 1
    first_date: Day = None
    last_date: Day = None
    annotation: str | None = None
    engine: str | None = None
    as_of: str | None = None
    audience_sources: Annotated[tuple[AudienceSource, ...], use_defaults(())] = ()
    key_fields: Annotated[tuple[KeyField, ...], use_defaults(())] = ()
    data_fields: Annotated[tuple[DataField, ...], use_defaults(())] = ()
    extensions: Annotated[tuple[str, ...], use_defaults(())] = ()
    restrictions: Annotated[tuple[Filter, ...], use_defaults(())] = ()
    own_fields: tuple[OwnField, ...] = Field(default=(), exclude=True)

    def with_own(self, own_fields: Iterable[OwnField]) -> "Slicer":
        """The slicer with these data fields too, but for those whose name it has already."""
        names = {field.name for field in self.data_fields}
        own = tuple(field for field in own_fields if field.name not in names)
        fields = (*self.data_fields, *(field.data_field for field in own))
        return self.model_copy(update={"data_fields": fields, "own_fields": own}) if own else self

    def knows(self, extension: str) -> bool:
        """Whether the service of this slicer knows that extension of ours."""
        return extension in self.extensions

    @property
    def seat_field(self) -> str | None:
        """The key field whose values are the ids of deals' seats, if the definition gives one this role."""
        return next((field.name for field in self.key_fields if field.role == "seat"), None)

    def key_field(self, name: str) -> KeyField:
        """The key field of that name; KeyError without one."""
        return {field.name: field for field in self.key_fields}[name]

    def data_field(self, name: str) -> DataField:
        """The data field of that name; KeyError without one."""
        return {field.name: field for field in self.data_fields}[name]


class DataFilter(Value):
    """Result rows whose data field compares so with `value`."""

    name: str
    match: DataMatch
    value: Number = Field(allow_inf_nan=False)


class Order(Value):
    """Order of the rows, by a key field or a data field. *Extension.*"""

    name: str
    direction: Direction = "desc"


"""Filters of which any holds."""


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
    the format xlsx are *extensions*. Programs that read csv, tsv or tsv2 turn `escape_formulas` off to get
    texts as they are; `full_digits` gives csv and tsv the digits of tsv2, where they are rounded as shown
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
