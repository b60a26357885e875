"""Data fields as expressions over atoms, the columns that an engine aggregates.

    records             how many records             sum:<field>       Σ y, a missing y counts as nothing
    present:<field>     how many records have a y    min: max:<field>  the least and greatest y
    distinct:<field>    how many different values    unique:<source>   how many users
    currency:<key>      the one currency of all records by that key field, as `currency_number`; -n of n
                        currencies, 0 of no records, and NaN where it was not read

A sum is its own atom; a mean is sum / present; a formula is put together from the fields that it names.
Money whose currency is in a key field has a value only where its records have one currency: `Measure.values`
is where sums become values, and so decides it for all who ask.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lib.slicers.definition import DataFieldDefinition, Definition
from lib.slicers.formulas import BinaryOperation, Expression, Field, expand, is_too_large, parse
from lib.slicers.models import DataField, OwnField
from lib.wire.errors import BadRequest

RECORDS = "records"
SEVERAL = " currencies: split or filter by "
CURRENCY_BYTES = 6
"""So many bytes of the text of a currency are in the number of its atom; codes have three."""
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True)
class Measure:
    """A data field and the expression that yields it from atoms.

    `currencies` are the key fields with the currency of the money in it.
    """

    field: DataField
    expression: Expression
    currencies: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.field.name

    @cached_property
    def atoms(self) -> frozenset[str]:
        """The atoms that it is computed from."""
        return self.expression.fields().union(f"currency:{name}" for name in self.currencies)

    def values(self, estimate: Mapping[str, Numbers], groups: int) -> Numbers:
        """It in each of so many groups, from their atoms; NaN where the records are in several currencies.

        A formula of no data field at all is the same number in all groups.
        """
        values = self.expression.evaluate(estimate)
        values = values if values.ndim else np.broadcast_to(values, (groups,))
        for name in self.currencies:
            values = np.where(estimate[f"currency:{name}"] >= 0, values, np.nan)
        return values

    def currency_texts(
        self, values: Numbers, estimate: Mapping[str, Numbers]
    ) -> npt.NDArray[np.object_] | None:
        """The currency of each of its values, or why there is none; None for what is no such money.

        Empty where that is not known: of no records, and of money whose currencies are in several key fields.
        """
        texts: npt.NDArray[np.object_] | None = None
        for name in sorted(self.currencies, reverse=True):
            numbers, places = np.unique(estimate[f"currency:{name}"], return_inverse=True)
            own = np.array([_currency_text(number, name) for number in numbers.tolist()], object)[places]
            is_known = np.where(np.isnan(values), numbers[places] < 0, len(self.currencies) == 1)
            texts = np.where(is_known, own, "" if texts is None else texts)
        return texts

    @property
    def additive_atom(self) -> str | None:
        """The one additive atom that this is, if it is no more than that."""
        is_plain = isinstance(self.expression, Field) and is_additive(self.expression.name)
        return self.expression.name if is_plain and isinstance(self.expression, Field) else None


def currency_number(text: str) -> float:
    """The value of a currency atom where all records have this text: above zero, and its own."""
    return float(int.from_bytes(text.encode()[:CURRENCY_BYTES]) or 1)


def _currency_text(number: float, name: str) -> str:
    if number < 0:
        return f"{-number:.0f}{SEVERAL}{name}"
    if not number > 1:
        return ""
    return int(number).to_bytes(CURRENCY_BYTES).lstrip(b"\0").decode(errors="ignore")


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
    keys = {part.name for part in definition.key_fields}
    own = {part.name: part.currency for part in definition.data_fields if part.currency in keys}
    parts = {name: expression.fields() for name, expression in expressions.items()}
    currencies = {
        name: frozenset(own[part] for part in parts.get(name, {name}) if part in own) for name in descriptions
    }
    return {name: Measure(field, whole[name], currencies[name]) for name, field in descriptions.items()}


def all_measures(own_fields: Iterable[OwnField], measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """The measures of a slicer and, over these, the fields of the caller's own, by name.

    BadRequest for a formula that can't be read or is too large, and for a name that is taken.
    """
    every = dict(measures)
    expressions = {name: measure.expression for name, measure in measures.items()}
    for field in own_fields:
        if field.name in every:
            raise BadRequest(f"own_fields: there is a data field named '{field.name}' already")
        formula = parse(field.formula, measures)
        expression = formula.substitute(expressions)
        if is_too_large(expression):
            raise BadRequest(f"own_fields: the formula of '{field.name}' is too large")
        currencies = frozenset[str]().union(*(measures[name].currencies for name in formula.fields()))
        every[field.name] = Measure(field.data_field, expression, currencies)
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
