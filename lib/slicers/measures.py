"""Data fields as expressions over atoms, the columns that an engine aggregates.

    records             how many records             sum:<field>       Σ y, a missing y counts as nothing
    present:<field>     how many records have a y    min: max:<field>  the least and greatest y
    distinct:<field>    how many different values    unique:<source>   how many users

A sum is its own atom; a mean is sum / present; a formula is put together from the fields that it names.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lib.slicers.definition import DataFieldDefinition, Definition
from lib.slicers.formulas import BinaryOperation, Expression, Field, expand, is_too_large, parse
from lib.slicers.models import DataField, OwnField
from lib.wire.errors import BadRequest

RECORDS = "records"
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True)
class Measure:
    """A data field and the expression that yields it from atoms."""

    field: DataField
    expression: Expression

    @property
    def name(self) -> str:
        return self.field.name

    @cached_property
    def atoms(self) -> frozenset[str]:
        """The atoms that it is computed from."""
        return self.expression.fields()

    @property
    def additive_atom(self) -> str | None:
        """The one additive atom that this is, if it is no more than that."""
        is_plain = isinstance(self.expression, Field) and is_additive(self.expression.name)
        return self.expression.name if is_plain and isinstance(self.expression, Field) else None


def is_additive(atom: str) -> bool:
    """Whether the atom's values of disjoint groups of records add up."""
    return atom == RECORDS or atom.startswith(("sum:", "present:"))


def additive_atoms(definition: Definition) -> list[str]:
    """Every additive atom of a slicer, the record count first, then in the order of its data fields."""
    atoms = [RECORDS]
    for part in (part for part in definition.data_fields if part.formula is None):
        atoms += [atom for atom in sorted(_aggregate(part).fields(), reverse=True) if is_additive(atom)]
    return list(dict.fromkeys(atoms))


def measures(definition: Definition) -> dict[str, Measure]:
    """All data fields of a slicer, in its order, by name; BadRequest on a formula that can't be read."""
    simple = {part.name: _aggregate(part) for part in definition.data_fields if part.formula is None}
    simple |= {source.data_field: Field(f"unique:{source.name}") for source in definition.audience_sources}
    formulas = {part.name: part.formula for part in definition.data_fields if part.formula is not None}
    names = [*simple, *formulas]
    expressions = expand({name: parse(text, names) for name, text in formulas.items()})
    whole = simple | {name: expression.substitute(simple) for name, expression in expressions.items()}
    descriptions = {field.name: field for field in definition.slicer(None, None).data_fields}
    return {name: Measure(field, whole[name]) for name, field in descriptions.items()}


def all_measures(own_fields: Iterable[OwnField], measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """The measures of a slicer and, over these, the fields of the caller's own, by name.

    BadRequest for a formula that can't be read or is too large, and for a name that is taken.
    """
    every = dict(measures)
    expressions = {name: measure.expression for name, measure in measures.items()}
    for field in own_fields:
        if field.name in every:
            raise BadRequest(f"own_fields: there is a data field named '{field.name}' already")
        expression = parse(field.formula, measures).substitute(expressions)
        if is_too_large(expression):
            raise BadRequest(f"own_fields: the formula of '{field.name}' is too large")
        every[field.name] = Measure(field.data_field, expression)
    return every


def pairs(measures: Iterable[Measure]) -> frozenset[tuple[str, str]]:
    """The pairs of additive atoms whose joint moments the errors of these measures need, each pair sorted."""
    atom_pairs = set()
    for measure in measures:
        atoms = sorted(atom for atom in measure.atoms if is_additive(atom))
        atom_pairs |= {(a, b) for position, a in enumerate(atoms) for b in atoms[position:]}
    return frozenset(atom_pairs)


def _aggregate(part: DataFieldDefinition) -> Expression:
    if part.aggregate == "mean":
        return BinaryOperation("/", Field(f"sum:{part.name}"), Field(f"present:{part.name}"))
    if part.aggregate in ("min", "max", "distinct"):
        return Field(f"{part.aggregate}:{part.name}")
    return Field(RECORDS) if part.source is None else Field(f"sum:{part.name}")
