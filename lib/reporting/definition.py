"""What a slicer is made of: the definition that a person writes in YAML and an import follows.

The stored rows (Parquet) have one column per field, named by the field: `schema()`.
"""

from typing import Annotated, Any, Literal, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, model_validator

from lib.reporting.models import (
    EXTENSIONS,
    GRANULARITIES,
    AudienceSource,
    DataField,
    KeyField,
    Slicer,
    time_key_field,
)

Aggregate = Literal["sum", "mean", "min", "max", "count", "distinct"]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f'\"]+$")]
TIME = "time"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TimeColumn(_Part):
    """Where a row's time stands, how it is written, and how fine it is kept."""

    column: str
    granularity: Literal["hour", "day"] = "day"
    format: str | None = None
    timezone: str | None = None


class KeyFieldDefinition(_Part):
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


class DataFieldDefinition(_Part):
    """A data field: an aggregate of a column, or a formula over other data fields."""

    name: Name
    column: str | None = None
    description: str | None = None
    annotation: str = ""
    aggregate: Aggregate = "sum"
    formula: str | None = None
    formula_description: str | None = None
    display_type: Literal["int", "float"] | None = None
    display_precision: int | None = Field(default=None, ge=0, le=12)
    display_pattern: str | None = None
    is_optional: bool = False
    access: Literal["shared", "private"] | None = None
    show_percents: Literal[0, 1, 2] | None = None

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
        )


class AudienceSourceDefinition(_Part):
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


class Definition(_Part):
    """A slicer: its time, key fields, data fields and audience sources."""

    annotation: str | None = None
    timezone: int = Field(default=0, ge=-12, le=12)
    time: TimeColumn
    key_fields: tuple[KeyFieldDefinition, ...] = ()
    data_fields: tuple[DataFieldDefinition, ...] = ()
    audience_sources: tuple[AudienceSourceDefinition, ...] = ()

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [TIME, *(time_key_field(grain) for grain in GRANULARITIES)]
        names += [field.name for field in self.key_fields] + [field.name for field in self.data_fields]
        names += [name for source in self.audience_sources for name in (source.name, source.data_field)]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ValueError(f"each name may stand once, and these are taken twice: {', '.join(doubled)}")
        return self

    @property
    def mappings(self) -> frozenset[str]:
        """The names of the mappings that key fields refer to."""
        return frozenset(field.mapping for field in self.key_fields if field.mapping)

    def differences(self, other: "Definition") -> list[str]:
        """The fields in which two definitions differ, in words: `timezone`, `key field 'site_id'`."""
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
            )
            for source in self.audience_sources
        ]


def _named_parts(definition: Definition) -> dict[str, Any]:
    lists: dict[str, tuple[Any, ...]] = {
        "key field": definition.key_fields,
        "data field": definition.data_fields,
        "audience source": definition.audience_sources,
    }
    plain = {name: getattr(definition, name) for name in ("annotation", "timezone", "time")}
    return plain | {f"{kind} '{part.name}'": part for kind, parts in lists.items() for part in parts}
