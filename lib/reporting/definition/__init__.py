"""The definition of a slicer, written in YAML by a person and followed by imports.

The stored rows (Parquet) have one column per field, named by the field: `Definition.schema()`.
"""

import re
from typing import Annotated, Any, Literal, Self

import pyarrow as pa
from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from lib.reporting.definition.reading import (
    MISSING,
    READING,
    Decimal,
    DefinitionPart,
    NumberColumn,
    Sheets,
    Thousands,
    TimeColumn,
    Totals,
    check_marks,
)
from lib.reporting.formulas import expand, parse
from lib.reporting.lenient import Polarity, Whole
from lib.reporting.models import (
    EXTENSIONS,
    GRANULARITIES,
    AudienceSource,
    DataField,
    KeyField,
    Slicer,
    time_key_field,
)
from lib.wire.errors import BadRequest

Aggregate = Literal["sum", "mean", "min", "max", "count", "distinct"]
BAD = {"nobids", "error", "errors", "anomaly", "timeouts", "latency", "blocked", "invalid"}
MONEY = {"cost", "costs", "spend", "price", "payout", "amount", "fee", "fees", "revenue"}
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f'\"]+$")]
__all__ = [
    "TIME",
    "Aggregate",
    "AudienceSourceDefinition",
    "DataFieldDefinition",
    "Definition",
    "KeyFieldDefinition",
    "Name",
    "RowSource",
    "TimeColumn",
]
TIME = "time"


class RowSource(DefinitionPart):
    """Where rows are that are asked for in a database: a connection of the settings, and a table there.

    `days_from` is a table of loads there, with a date and how many `rows` (or `records`) came for it.
    """

    connection: Name
    table: Name
    days_from: Name | None = None


class KeyFieldDefinition(NumberColumn):
    """A key field and the column that it is read from.

    `segmented` makes it multi-valued: the separator inside a text column, or true for a list column.
    """

    name: Name
    column: str | None = None
    description: str | None = None
    annotation: str = ""
    type: Literal["text", "int"] = "text"
    segmented: str | bool = False
    mapping: str | None = None
    link: str | None = None

    @field_validator("segmented")
    @classmethod
    def _is_a_separator(cls, segmented: str | bool) -> str | bool:
        if segmented == "":
            raise ValueError("the separator is empty; give it, or true for a list column")
        return segmented

    @property
    def source(self) -> str:
        """The column of the file that the field is read from."""
        return self.column or self.name

    def descriptor(self) -> KeyField:
        """The field as info describes it."""
        return KeyField(
            name=self.name,
            description=self.description or self.name,
            annotation=self.annotation,
            type=self.type,
            is_segmented=1 if self.segmented else 0,
            mapping=self.mapping,
            link=self.link,
        )


class DataFieldDefinition(NumberColumn):
    """A data field: an aggregate of a column, or a formula over other data fields."""

    name: Name
    column: str | None = None
    description: str | None = None
    annotation: str = ""
    aggregate: Aggregate = "sum"
    formula: str | None = None
    formula_description: str | None = None
    display_type: Literal["int", "float"] | None = None
    display_precision: Whole | None = Field(default=None, ge=0, le=12)
    display_pattern: str | None = None
    is_optional: bool = False
    access: Literal["shared", "private"] | None = None
    show_percents: Literal[0, 1, 2] | None = None
    polarity: Polarity | None = None

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> Self:
        if self.formula is not None and (self.column is not None or self.aggregate != "sum"):
            raise ValueError("a formula has neither column nor aggregate; it is computed from data fields")
        return self

    @property
    def source(self) -> str | None:
        """The column of the file that is aggregated; None for a formula and for a count of records."""
        if self.formula is not None or (self.aggregate == "count" and self.column is None):
            return None
        return self.column or self.name

    @property
    def is_additive(self) -> bool:
        """Whether values of disjoint groups add up: sums and counts of records, nothing else."""
        return self.formula is None and self.aggregate in ("sum", "count")

    @property
    def is_float(self) -> bool:
        """Shown with decimals: as told, else formulas and means."""
        if self.display_type is not None:
            return self.display_type == "float"
        return self.formula is not None or self.aggregate == "mean"

    @property
    def usual_polarity(self) -> Polarity:
        """Whether a rise is good news where nobody said: of counts and sums, but for errors and the like.

        Of money, rates, prices, means, minima and maxima it is neither good nor bad.
        """
        words = {*re.split(r"[._ ]", self.name.lower())}
        has_unit = bool((self.display_pattern or "#").replace("#", "").strip())
        if not self.is_additive or has_unit or words & MONEY:
            return "none"
        return "down" if words & BAD else "up"

    def descriptor(self) -> DataField:
        """The field as info describes it."""
        precision = (2 if self.is_float else 0) if self.display_precision is None else self.display_precision
        return DataField(
            name=self.name,
            description=self.description or self.name,
            annotation=self.annotation,
            display_type="float" if self.is_float else "int",
            display_precision=precision,
            display_pattern=self.display_pattern,
            formula=self.formula,
            formula_description=self.formula_description,
            is_optional=int(self.is_optional),
            access=self.access,
            show_percents=int(self.is_additive) if self.show_percents is None else self.show_percents,
            polarity=self.polarity or self.usual_polarity,
        )


class AudienceSourceDefinition(DefinitionPart):
    """A column that identifies users; gives the data field `unique_<name>`."""

    name: Name
    column: str | None = None
    description: str | None = None
    annotation: str = ""

    @property
    def source(self) -> str:
        """The column of the file that identifies users."""
        return self.column or self.name

    @property
    def data_field(self) -> str:
        """The name of the data field that counts this source's users."""
        return f"unique_{self.name}"

    def descriptor(self) -> AudienceSource:
        """The source as info describes it."""
        return AudienceSource(
            name=self.name, description=self.description or self.name, annotation=self.annotation
        )


class Definition(DefinitionPart):
    """A slicer: its time, key fields, data fields and audience sources; and how its files are written.

    `decimal` and `thousands` are the marks inside of numbers that are text: 1.285,50 has "," and ".". With
    `decimal: unknown` (no number had a mark when the definition was guessed) a number that could be read in
    two ways, such as 1.285, can't be read. `missing` are the texts that mean that there is no value. A file
    without a line of column names has `header: false`, and `names` in the order of its columns. `sheets` are
    those of a workbook to import, and `totals` says whether rows such as `Total` are imported.
    A slicer with a `source` has no rows of its own: they stay in that table, and are asked for there.
    """

    annotation: str | None = None
    timezone: Whole = Field(default=0, ge=-12, le=12)
    decimal: Decimal = "."
    thousands: Thousands | None = None
    missing: tuple[str, ...] = MISSING
    header: bool = True
    names: tuple[Name, ...] = ()
    sheets: Sheets = None
    totals: Totals | None = None
    source: RowSource | None = None
    time: TimeColumn
    key_fields: tuple[KeyFieldDefinition, ...] = ()
    data_fields: tuple[DataFieldDefinition, ...] = ()
    audience_sources: tuple[AudienceSourceDefinition, ...] = ()

    @field_validator("missing", mode="before")
    @classmethod
    def _null_is_a_word(cls, words: Any) -> Any:
        """YAML takes the word NULL for no value at all."""
        if not isinstance(words, list | tuple):
            return words
        return [text for word in words for text in (("NULL", "null", "Null") if word is None else (word,))]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_marks(self)
        if self.names and self.header:
            raise ValueError("names are for files without a header; add header: false")
        problems = _name_problems(self) or _formula_problems(self)
        if problems:
            raise ValidationError.from_exception_data("Definition", problems)
        return self

    @property
    def mappings(self) -> frozenset[str]:
        """The names of the mappings that key fields refer to."""
        return frozenset(field.mapping for field in self.key_fields if field.mapping)

    def source_columns(self) -> list[str]:
        """The columns of a file or table that are read, each once."""
        sources = [*self.time.sources, *(field.source for field in self.key_fields)]
        sources += [field.source for field in self.data_fields if field.source is not None]
        return list(dict.fromkeys([*sources, *(source.source for source in self.audience_sources)]))

    def differences(self, other: "Definition") -> list[str]:
        """The fields in which what is stored differs, in words: `timezone`, `key field 'site_id'`.

        How numbers and missing values are written in a file makes no difference to what is stored.
        """
        mine, theirs = _named_parts(self), _named_parts(other)
        return [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]

    def schema(self) -> pa.Schema:  # type: ignore[override]
        """The columns of the stored rows.

        `time` is the UTC instant, cut to the hour (granularity hour), or the slicer's own day at 00:00
        (granularity day). Key fields are text (segmented: lists of text), data fields are float64 (a
        count: 1.0 where its column has a value; a distinct: the text), audience sources are text.
        Missing values are null. Formulas and plain record counts have no column.
        """
        columns: list[tuple[str, Any]] = [(TIME, pa.timestamp("s", tz="UTC"))]
        columns += [(f.name, pa.list_(pa.string()) if f.segmented else pa.string()) for f in self.key_fields]
        columns += [
            (f.name, pa.string() if f.aggregate == "distinct" else pa.float64())
            for f in self.data_fields
            if f.source is not None
        ]
        columns += [(source.name, pa.string()) for source in self.audience_sources]
        return pa.schema(columns)

    def slicer(self, first_date: str | None, last_date: str | None) -> Slicer:
        """The answer to info, for rows between these two dates."""
        return Slicer(
            timezone=self.timezone,
            supports_timezone=int(self.time.granularity == "hour"),
            first_date=first_date,
            last_date=last_date,
            annotation=self.annotation,
            audience_sources=tuple(source.descriptor() for source in self.audience_sources),
            key_fields=(*(f.descriptor() for f in self.key_fields), *self._time_key_fields()),
            data_fields=(*(f.descriptor() for f in self.data_fields), *self._unique_data_fields()),
            extensions=EXTENSIONS,
        )

    def _time_key_fields(self) -> list[KeyField]:
        coarser = GRANULARITIES[GRANULARITIES.index(self.time.granularity) :]
        return [
            KeyField(name=time_key_field(grain), description=grain.capitalize())
            for grain in reversed(coarser)
        ]

    def _unique_data_fields(self) -> list[DataField]:
        return [
            DataField(
                name=source.data_field,
                description=source.description or f"Unique {source.name}",
                annotation=source.annotation,
                show_percents=0,
                polarity="up",
            )
            for source in self.audience_sources
        ]


def _named_parts(definition: Definition) -> dict[str, Any]:
    lists: dict[str, tuple[Any, ...]] = {
        "key field": definition.key_fields,
        "data field": definition.data_fields,
        "audience source": definition.audience_sources,
    }
    plain = {name: getattr(definition, name) for name in ("annotation", "timezone", "source", "time")}
    return plain | {
        f"{kind} '{part.name}'": part.model_dump(exclude=set(READING))
        for kind, parts in lists.items()
        for part in parts
    }


def _name_problems(definition: Definition) -> list[InitErrorDetails]:
    owners = {TIME: "the time", **{time_key_field(grain): "the time key fields" for grain in GRANULARITIES}}
    problems = []
    for kind in ("key_fields", "data_fields", "audience_sources"):
        for position, part in enumerate(getattr(definition, kind)):
            names = [part.name, part.data_field] if kind == "audience_sources" else [part.name]
            for name in names:
                if name in owners:
                    reason = f"the name '{name}' is taken, by {owners[name]}; names must be unique"
                    problems.append(_problem((kind, position, "name"), reason, name))
                owners[name] = f"{kind}[{position}]"
    return problems


def _formula_problems(definition: Definition) -> list[InitErrorDetails]:
    fields = {field.name: position for position, field in enumerate(definition.data_fields)}
    names = [*fields, *(source.data_field for source in definition.audience_sources)]
    formulas, problems = {}, []
    for field in definition.data_fields:
        try:
            if field.formula is not None:
                formulas[field.name] = parse(field.formula, names)
        except BadRequest as error:
            where = ("data_fields", fields[field.name], "formula")
            problems.append(_problem(where, error.reason, field.formula))
    try:
        expand(formulas)
    except BadRequest as error:
        problems.append(_problem(("data_fields",), error.reason, None))
    return problems


def _problem(where: tuple[str | int, ...], reason: str, value: object) -> InitErrorDetails:
    kind = PydanticCustomError("definition", "{reason}", {"reason": reason})
    return InitErrorDetails(type=kind, loc=where, input=value)
