"""What a slicer is: its key fields, data fields and audience sources, as info describes them.

Names and types are those of the reporting specification ("Resources and their fields"). Fields marked
*extension* are our own (info lists them in `extensions`); a service that knows the specification alone
neither sends nor expects them. Services write numbers and flags as texts, and null or an empty text for
what is at its default: these are read too.
"""

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from lib.wire.filters import Filter, Value

Direction = Literal["asc", "desc"]
DURATION = "h:mm:ss"
"""The display pattern of seconds that are shown as hours, minutes and seconds."""
EXTENSIONS = (
    "data_fields", "own_fields", "data_filters", "any_of", "include_mappings", "order_by", "limit", "offset",
    "audience_key", "precision", "exact_within", "same_precision_as", "escape_formulas", "full_digits",
    "restrictions", "engine", "as_of", "polarity", "role", "currency", "records", "time_zones",
    "xlsx", "arrow",
)  # fmt: skip
"""What our service can do beside the specification, as `info` lists it."""
MOST_DECIMALS = 15
FLAGS = {"0": 0, "false": 0, "no": 0, "1": 1, "true": 1, "yes": 1}
Polarity = Literal["up", "down", "none"]
LenientPolarity = Annotated[
    Polarity, BeforeValidator(lambda value: value if value in get_args(Polarity) else "none")
]
"""Whether a rise is good news (`up`), a fall (`down`), or neither; an extension, `none` where not sent."""


def read_number(value: Any) -> Any:
    """The value, for pydantic to read as a number; ValueError for true and false, which Python counts too."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


def _day(value: Any) -> Any:
    """`YYYY-MM-DD` of a date or a time; invalid dates count as missing."""
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        return None


def use_defaults(usual: Any) -> BeforeValidator:
    """Sets fields that a response leaves null or empty to their defaults."""
    return BeforeValidator(lambda value: usual if value in (None, "") else value)


Whole = Annotated[int, BeforeValidator(read_number)]
Number = Annotated[float, BeforeValidator(read_number)]
LenientFlag = Annotated[
    Literal[0, 1], BeforeValidator(lambda value: FLAGS.get(str(value).lower(), value)), use_defaults(0)
]
LenientText = Annotated[str, use_defaults("")]
LenientName = Annotated[str | None, use_defaults(None)]
Day = Annotated[str | None, BeforeValidator(_day)]
Decimals = Annotated[int, AfterValidator(lambda places: min(max(places, 0), MOST_DECIMALS)), use_defaults(0)]


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
    """A data field: what is counted. `role`, what it is in a funnel, and `currency` are *extensions*.

    The currency of money is a code of ISO 4217, or the key field that tells it.
    """

    name: str
    description: LenientText = ""
    annotation: str | None = ""
    display_type: Annotated[str, use_defaults("int")] = "int"
    display_precision: Decimals = 0
    display_pattern: LenientName = None
    currency: Annotated[str | None, BeforeValidator(lambda name: name if isinstance(name, str) else None)] = (
        None
    )
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
        own = tuple(field for field in own_fields if field.name not in self.data_names)
        fields = (*self.data_fields, *(field.data_field for field in own))
        return self.model_copy(update={"data_fields": fields, "own_fields": own}) if own else self

    def knows(self, extension: str) -> bool:
        """Whether the service of this slicer knows that extension of ours."""
        return extension in self.extensions

    @property
    def seat_field(self) -> str | None:
        """The key field whose values are the ids of deals' seats, if the definition gives one this role."""
        return next((field.name for field in self.key_fields if field.role == "seat"), None)

    @property
    def key_names(self) -> list[str]:
        """The names of the key fields, in their order."""
        return [field.name for field in self.key_fields]

    @property
    def data_names(self) -> list[str]:
        """The names of the data fields, in their order."""
        return [field.name for field in self.data_fields]

    def key_field(self, name: str) -> KeyField:
        """The key field of that name; KeyError without one."""
        return {field.name: field for field in self.key_fields}[name]

    def data_field(self, name: str) -> DataField:
        """The data field of that name; KeyError without one."""
        return {field.name: field for field in self.data_fields}[name]


class Order(Value):
    """Order of the rows, by a key field or a data field. *Extension.*"""

    name: str
    direction: Direction = "desc"
