"""The definition of a slicer, written in YAML by a person and followed by imports.

The stored rows (Parquet) have one column per field, named by the field: `schema()`.
"""

from typing import Any, Self, TypeVar, get_args

import pyarrow as pa
from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from lib.slicers.definition.reading import (
    GUESS,
    MISSING,
    READING,
    Aggregate,
    AudienceSourceDefinition,
    DataFieldDefinition,
    DataRole,
    Decimal,
    DefinitionPart,
    KeyFieldDefinition,
    KeyRole,
    Name,
    OverlapRule,
    RowSource,
    Sheets,
    Thousands,
    TimeColumn,
    Totals,
    check_marks,
)
from lib.slicers.formulas import expand, parse
from lib.slicers.granularities import CYCLES, GRANULARITIES, TIME_KEY_FIELDS
from lib.slicers.models import EXTENSIONS, DataField, KeyField, Slicer, Whole
from lib.wire.currencies import CODES, EXAMPLE
from lib.wire.errors import BadRequest

__all__ = [
    "TIME", "Aggregate", "AudienceSourceDefinition", "DataFieldDefinition", "Definition",
    "KeyFieldDefinition", "Name", "RowSource", "TimeColumn",
]  # fmt: skip
TIME = "time"
AnyField = TypeVar("AnyField", KeyField, DataField)


class Definition(DefinitionPart):
    """A slicer: its time, key fields, data fields and audience sources; and how its files are written.

    `decimal` and `thousands` are the marks inside of numbers that are text: 1.285,50 has "," and ".". With
    `decimal: unknown` (no number had a mark when the definition was guessed) a number that could be read in
    two ways, such as 1.285, can't be read. `missing` are the texts that mean that there is no value. A file
    without a line of column names has `header: false`, and `names` in the order of its columns. With
    `unpivot`, days across its columns become rows with the columns `day` and `value`. `sheets` are
    those of a workbook to import, and `totals` says whether rows such as `Total` are imported. `overlap` says
    whether rows whose time and key fields are there already are added or left out; without it the
    import asks. `roles` say which field is what in the funnel of deals, for their health.
    `records` are columns that are no fields, which records behind a figure show too.
    A slicer with a `source` has no rows of its own: they stay in that table, and are asked for there.
    """

    annotation: str | None = None
    timezone: Whole = Field(default=0, ge=-12, le=12)
    decimal: Decimal = "."
    thousands: Thousands | None = None
    missing: tuple[str, ...] = MISSING
    header: bool = True
    names: tuple[Name, ...] = ()
    unpivot: bool = False
    sheets: Sheets = None
    totals: Totals | None = None
    overlap: OverlapRule | None = None
    source: RowSource | None = None
    time: TimeColumn
    key_fields: tuple[KeyFieldDefinition, ...] = ()
    data_fields: tuple[DataFieldDefinition, ...] = ()
    audience_sources: tuple[AudienceSourceDefinition, ...] = ()
    records: tuple[Name, ...] = ()
    roles: dict[KeyRole | DataRole, Name] = Field(default_factory=dict)

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
        problems = _name_problems(self) or _formula_problems(self) or _role_problems(self)
        problems = problems or _record_problems(self) or _currency_problems(self)
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
        sources += [source.source for source in self.audience_sources]
        return list(dict.fromkeys([*sources, *self.records]))

    def stored_column(self, name: str) -> str | None:
        """The stored column (see `schema`) of a key field, data field or column listed under `records`."""
        columns = _counted_columns(self)
        if name in self.records and name in columns:
            return columns[name]
        return name if name in self.schema().names else None

    @property
    def guesses(self) -> list[str]:
        """The names of what was guessed and not confirmed: fields, and the time."""
        parts: list[KeyFieldDefinition | DataFieldDefinition] = [*self.key_fields, *self.data_fields]
        names = [TIME] if self.time.annotation.startswith(GUESS) else []
        return names + [part.name for part in parts if (part.annotation or "").startswith(GUESS)]

    def without_guesses(self) -> "Definition":
        """The same, with nothing marked as a guess."""
        content = self.model_dump()
        for part in (content["time"], *content["key_fields"], *content["data_fields"]):
            if (part["annotation"] or "").startswith(GUESS):
                del part["annotation"]
        return Definition.model_validate(content)

    def differences(self, other: "Definition") -> list[str]:
        """The fields in which what is stored differs, in words: `timezone`, `key field 'site_id'`.

        How numbers and missing values are written in a file makes no difference to what is stored, nor does
        what is noted about a field.
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
        fields = [field for field in self.data_fields if field.source is not None]
        columns += [(f.name, pa.string() if f.aggregate == "distinct" else pa.float64()) for f in fields]
        columns += [(source.name, pa.string()) for source in self.audience_sources]
        return pa.schema(columns)

    def slicer(self, first_date: str | None, last_date: str | None) -> Slicer:
        """The answer to info, for rows between these two dates."""
        roles = {(role in get_args(KeyRole), name): role for role, name in self.roles.items()}
        # Its own granularity and the coarser ones, the coarsest first.
        finest, rows = GRANULARITIES[self.time.granularity], [*GRANULARITIES.values()]
        times = [*reversed(rows[rows.index(finest) :])]
        times += [CYCLES["weekday"]] if finest.clock_hours else []
        times += [CYCLES["hour_of_day"]] if finest.is_within_day else []
        return Slicer(
            timezone=self.timezone,
            supports_timezone=int(self.time.has_zones),
            first_date=first_date,
            last_date=last_date,
            annotation=self.annotation,
            audience_sources=tuple(source.descriptor() for source in self.audience_sources),
            key_fields=(
                *(_with_role(f.descriptor(), roles.get((True, f.name))) for f in self.key_fields),
                *[
                    KeyField(
                        name=row.key_field, description=row.name.replace("_", " ").capitalize(),
                        annotation=self.time.annotation,
                    )
                    for row in times
                ],
            ),
            data_fields=(
                *(_with_role(f.descriptor(), roles.get((False, f.name))) for f in self.data_fields),
                *[
                    DataField(
                        name=source.data_field, description=source.description or f"Unique {source.name}",
                        annotation=source.annotation, show_percents=0,
                    )
                    for source in self.audience_sources
                ],
            ),
            extensions=EXTENSIONS,
        )  # fmt: skip


def _with_role(field: AnyField, role: str | None) -> AnyField:
    return field if role is None else field.model_copy(update={"role": role})


def _role_problems(definition: Definition) -> list[InitErrorDetails]:
    """Roles of fields that the definition has not."""
    keys = {field.name for field in definition.key_fields}
    data = {field.name for field in definition.data_fields}
    problems = []
    for role, name in definition.roles.items():
        names, kind = (keys, "key field") if role in get_args(KeyRole) else (data, "data field")
        if name not in names:
            problems.append(_problem(("roles", role), f"there is no {kind} '{name}'", name))
    return problems


def _currency_problems(definition: Definition) -> list[InitErrorDetails]:
    """Currencies that are neither codes nor key fields with one value a record."""
    keys = {field.name: field for field in definition.key_fields}
    problems = []
    for position, field in enumerate(definition.data_fields):
        name, where = field.currency or "", ("data_fields", position, "currency")
        if name in keys and keys[name].segmented:
            problems.append(_problem(where, f"'{name}' has several values in a record", name))
        elif name and name not in keys and name not in CODES:
            reason = f"there is no key field '{name}'; name one with the currencies, or {EXAMPLE}"
            problems.append(_problem(where, reason, name))
    return problems


def _record_problems(definition: Definition) -> list[InitErrorDetails]:
    """Listed columns that are fields already, or that an import does not store."""
    columns = _counted_columns(definition)
    names = {field.name for field in definition.key_fields}
    names |= {field.name for field in definition.data_fields if field.aggregate != "distinct"}
    problems = []
    for index, column in enumerate(definition.records):
        if column in names or column == TIME or column.startswith("granularity_"):
            problems.append(_problem(("records", index), f"'{column}' is a field: records show it", column))
        elif definition.source is None and column not in columns:
            reason = f"an import does not store '{column}': make it a key field"
            problems.append(_problem(("records", index), reason, column))
    return problems


def _counted_columns(definition: Definition) -> dict[str, str]:
    """The columns whose different values are counted, with the stored columns that have them."""
    columns = {source.source: source.name for source in definition.audience_sources}
    fields = (field for field in definition.data_fields if field.aggregate == "distinct")
    return columns | {field.source or field.name: field.name for field in fields}


def _named_parts(definition: Definition) -> dict[str, Any]:
    lists: dict[str, tuple[Any, ...]] = {
        "key field": definition.key_fields,
        "data field": definition.data_fields,
        "audience source": definition.audience_sources,
    }
    plain = {name: getattr(definition, name) for name in ("annotation", "timezone", "source")}
    plain["time"] = definition.time.model_dump(exclude={"annotation"})
    return plain | {
        f"{kind} '{part.name}'": part.model_dump(exclude={*READING, "annotation"})
        for kind, parts in lists.items()
        for part in parts
    }


def _name_problems(definition: Definition) -> list[InitErrorDetails]:
    owners = {TIME: "the time", **dict.fromkeys(TIME_KEY_FIELDS, "the time key fields")}
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
