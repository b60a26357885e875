"""What a later file says against the definition of the slicer that it is added to."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from lib.ingest.money import MAY_BE_MILLIONTHS
from lib.ingest.numbers import STRANGE_SHARE
from lib.ingest.quotients import rounding
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition
from lib.slicers.definition.file import flow
from lib.slicers.definition.reading import GUESS
from lib.slicers.formulas import expand, parse

Floats = npt.NDArray[np.float64]
AnyField: TypeAlias = KeyFieldDefinition | DataFieldDefinition
_FRACTION = 1e-3  # of a number of millionths: less is lost by dividing


def misfits(definition: Definition, later: Definition, figures: Mapping[str, Floats]) -> list[str]:
    """Sentences about fields of a slicer's `definition` that a `later` file, alone, would have otherwise.

    Its rates are computed again by their formulas, with the `figures` of its sample by column (divided by the
    scale that it has alone), and money is looked at for another currency or scale. Other fields are compared
    as long as they are guesses that nobody has confirmed: zeros that became counts, an attribute that varies.
    """
    formulas = {field.name: parse(field.formula) for field in definition.data_fields if field.formula}
    later_fields: list[AnyField] = [*later.key_fields, *later.data_fields]
    others = {_column(field): field for field in later_fields}
    scales = {field.source: field.scale for field in later.data_fields}
    amounts = {
        field.name: figures[field.source] * (scales.get(field.source, 1) / field.scale)
        for field in definition.data_fields
        if field.source and field.source in figures
    }
    expressions, sentences = expand(formulas), list[str]()
    fields: list[AnyField] = [*definition.key_fields, *definition.data_fields]
    for field in fields:
        column, other, expression = _column(field), others.get(_column(field)), expressions.get(field.name)
        if other is None:
            continue
        if expression is not None:
            if column in figures and expression.fields() <= amounts.keys():
                errors = np.abs(expression.evaluate(amounts) - figures[column])
                wrong, rows = int((errors > rounding(figures[column])).sum()), int(np.isfinite(errors).sum())
                what = f"'{column}' is not {formulas[field.name]} in {wrong:,} of {rows:,} rows of this file"
                if wrong > STRANGE_SHARE * rows:
                    sentences.append(f"{what}; it is {_kind(other)}. {_remedy(other)}")
        elif (field.annotation or "").startswith(GUESS) and _kind(other) != _kind(field):
            what = f"was guessed to be {_kind(field)}, but in this file it is {_kind(other)}"
            sentences.append(f"'{column}' {what}. {_remedy(other)}")
        if isinstance(field, KeyFieldDefinition) or isinstance(other, KeyFieldDefinition):
            continue
        if other.currency and _currency(field, definition) != _currency(other, later):
            currency = f"the currency {field.currency}" if field.currency else "no currency"
            what = f"has {currency}, but in this file {other.currency}"
            sentences.append(f"'{column}' {what}. {_remedy(other)}")
        if other.is_float and not field.is_float and field.display_type is None:
            what = "is written in whole numbers, but in this file it has fractions"
            sentences.append(f"'{column}' {what}. {_remedy(other)}")
        numbers = figures.get(column, np.zeros(0)) * other.scale
        has_fractions = bool((np.abs(numbers - np.round(numbers)) > _FRACTION).any())
        may_be_scaled = other.scale > 1 or (other.annotation or "").endswith(MAY_BE_MILLIONTHS)
        if has_fractions and field.scale > 1:
            what = f"is divided by {field.scale:,}, but in this file it has fractions"
        elif has_fractions and (field.annotation or "").endswith(MAY_BE_MILLIONTHS):
            what = "may be in millionths, but in this file it has fractions"
        elif field.scale == 1 and field.display_type == "float" and may_be_scaled:
            what = f"has fractions, but in this file {MAY_BE_MILLIONTHS}"
        else:
            continue
        sentences.append(
            f"'{column}' {what}. If so, correct the file, and import it again with --replace-days"
        )
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
    part = "key_fields" if isinstance(field, KeyFieldDefinition) else "data_fields"
    return (
        f"If that is right, write {flow(content)} under {part} in the definition, and import all files again "
        "with --replace"
    )
