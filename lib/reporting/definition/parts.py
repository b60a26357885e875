"""The parts of a slicer's definition: a key field, a data field, an audience source."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from lib.reporting.definition.reading import DefinitionPart, NumberColumn
from lib.reporting.lenient import Polarity, Whole
from lib.reporting.models import AudienceSource, DataField, KeyField

Aggregate = Literal["sum", "mean", "min", "max", "count", "distinct"]
KeyRole = Literal["lost_reason", "creative"]
DataRole = Literal[
    "requests", "bids", "wins", "impressions", "viewable", "lost", "bid_price", "win_price", "spend"
]
BAD = {"nobids", "error", "errors", "anomaly", "timeouts", "latency", "blocked", "invalid"}
MONEY = {"cost", "costs", "spend", "price", "payout", "amount", "fee", "fees", "revenue"}
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f'\"]+$")]


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
