"""What a later file says against the definition of the slicer that it is added to."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import yaml

from lib.ingest.numbers import STRANGE_SHARE
from lib.ingest.quotients import rounding
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition
from lib.slicers.definition.reading import GUESS
from lib.slicers.formulas import expand, parse

Floats = npt.NDArray[np.float64]
AnyField: TypeAlias = KeyFieldDefinition | DataFieldDefinition
_REMEDY = "If that is right, write {} under {} in the definition, and import all files again with --replace"


def misfits(definition: Definition, later: Definition, figures: Mapping[str, Floats]) -> list[str]:
    """Sentences about fields of a slicer's `definition` that a later file, alone, would have otherwise.

    Rates that the file has are computed again by their formulas, with the `figures` of its sample by column.
    Other fields are compared as long as they are guesses that nobody has confirmed: zeros that became counts,
    an attribute that varies.
    """
    formulas = {field.name: parse(field.formula) for field in definition.data_fields if field.formula}
    columns = {
        field.name: figures[field.source]
        for field in definition.data_fields
        if field.source and field.source in figures
    }
    expressions = expand(formulas)
    later_fields: list[AnyField] = [*later.key_fields, *later.data_fields]
    others = {_column(field): field for field in later_fields}
    fields: list[AnyField] = [*definition.key_fields, *definition.data_fields]
    sentences = []
    for field in fields:
        other, expression = others.get(_column(field)), expressions.get(field.name)
        rates = figures.get(_column(field))
        if expression is not None and rates is not None and expression.fields() <= columns.keys():
            errors = np.abs(expression.evaluate(columns) - rates)
            wrong, rows = int((errors > rounding(rates)).sum()), int(np.isfinite(errors).sum())
            what = (
                f"'{_column(field)}' is not {formulas[field.name]} in {wrong:,} of {rows:,} rows of this file"
            )
            if wrong > STRANGE_SHARE * rows:
                sentences.append(what + (f"; it is {_kind(other)}. {_remedy(other)}" if other else ""))
        elif (
            other is not None and (field.annotation or "").startswith(GUESS) and _kind(other) != _kind(field)
        ):
            guess = (
                f"'{_column(field)}' was guessed to be {_kind(field)}, but in this file it is {_kind(other)}"
            )
            sentences.append(f"{guess}. {_remedy(other)}")
        if isinstance(field, DataFieldDefinition) and isinstance(other, DataFieldDefinition):
            currency = f"the currency {field.currency}" if field.currency else "no currency"
            if other.currency and _currency(field, definition) != _currency(other, later):
                what = f"'{_column(field)}' has {currency}, but in this file {other.currency}"
                sentences.append(f"{what}. {_remedy(other)}")
    return sentences


def _currency(field: DataFieldDefinition, definition: Definition) -> str | None:
    """The code of a field's currency, or the column that tells it."""
    return next((_column(key) for key in definition.key_fields if key.name == field.currency), field.currency)


def _column(field: AnyField) -> str:
    return field.source or field.name


def _kind(field: AnyField) -> str:
    if isinstance(field, KeyFieldDefinition):
        return "a key field"
    return field.formula or {"sum": "added up", "mean": "averaged"}.get(
        field.aggregate, f"a {field.aggregate}"
    )


def _remedy(field: AnyField) -> str:
    content = field.model_dump(mode="json", exclude_defaults=True, exclude={"annotation"})
    text = yaml.safe_dump(content, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1000)
    return _REMEDY.format(
        text.strip(), "key_fields" if isinstance(field, KeyFieldDefinition) else "data_fields"
    )
