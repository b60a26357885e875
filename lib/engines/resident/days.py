"""What a layout knows of each of its days: enough to make the layout of other days around it.

It is kept beside the table of contents in `days.json`. All of it follows from the rows of the day alone. Of a
ratio of sums that is the range of y/x over the records: Σy/Σx of any group is within it (no x below zero; the
mediant inequality). A record with x = 0 and another y takes the limit on that side away.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

import numpy as np

from lib.engines.resident.lanes import Floats
from lib.slicers.definition import Definition
from lib.slicers.formulas import BinaryOperation, Expression
from lib.slicers.measures import is_additive, measures
from lib.slicers.warehouse import StoredSlicer

Limits = dict[str, tuple[float, float]]
DAYS = "days.json"
EPOCH = date(1970, 1, 1)
Origin = list[list[str]]


class Bounds:
    """The least and greatest value per record of each data field that is such a ratio."""

    def __init__(self, definition: Definition) -> None:
        self.ratios: dict[str, BinaryOperation] = {}
        for measure in measures(definition).values():
            ratio = measure.expression
            if not isinstance(ratio, BinaryOperation) or ratio.operator != "/":
                continue
            atoms = ratio.fields()
            is_of_sums = bool(atoms) and all(map(is_additive, atoms))
            if is_of_sums and _is_linear(ratio.left) and _is_linear(ratio.right):
                self.ratios[measure.name] = ratio

    def of(self, lane: Callable[[str], Floats]) -> Limits:
        """The limits of each ratio over some records; infinite where there is none.

        `lane` gives the values of an atom in each record.
        """
        return {
            name: _limits(ratio, {atom: lane(atom) for atom in ratio.fields()})
            for name, ratio in self.ratios.items()
        }

    def of_all(self, days: Sequence[Limits]) -> dict[str, tuple[float | None, float | None]]:
        """The limits over all records, from those of each day; None on a side without one."""
        together = {}
        for name in self.ratios:
            low = min((day[name][0] for day in days), default=math.inf)
            high = max((day[name][1] for day in days), default=-math.inf)
            together[name] = (low if math.isfinite(low) else None, high if math.isfinite(high) else None)
        return together


def _limits(ratio: BinaryOperation, atoms: Mapping[str, Floats]) -> tuple[float, float]:
    above, below = ratio.left.evaluate(atoms), ratio.right.evaluate(atoms)
    positive = below > 0
    values, loose = above[positive] / below[positive], above[~positive]
    is_unlimited = bool((below < 0).any())
    return (
        -math.inf if is_unlimited or (loose < 0).any() else float(values.min(initial=math.inf)),
        math.inf if is_unlimited or (loose > 0).any() else float(values.max(initial=-math.inf)),
    )


def _is_linear(expression: Expression) -> bool:
    """Whether it is a weighted sum of atoms: constant slopes, and nothing left where all are zero."""
    slopes = [expression.derivative(atom) for atom in expression.fields()]
    nothing = expression.evaluate({atom: np.zeros(1) for atom in expression.fields()})
    return all(not slope.fields() for slope in slopes) and float(nothing.sum()) == 0.0


@dataclass(frozen=True)
class Day:
    """One day: its number since 1970, the files of its rows (name and digest), and figures over its records.

    `volume` has Σ|y| per additive data field, `smallest` is the least size of a record in its day. Per
    additive atom there are Σ|y| (`sums`), the `largest` |y|, whether a value is `negative`, with how few and
    how many `decimals` all values are decimal numbers, and its sums in each of `hours` (`hourly`). By atom,
    `rests` are what float64 can't hold of these, and `sizes` Σ|y| in each hour where a value is negative.
    """

    day: int
    origin: Origin
    records: int
    volume: dict[str, float]
    smallest: float
    sums: list[float]
    largest: list[float]
    negative: list[bool]
    decimals: list[tuple[int, int] | None]
    rests: dict[str, list[float]]
    sizes: dict[str, list[float]]
    bounds: Limits
    hours: list[int]
    hourly: list[list[float]]


def save(folder: Path, recipe: str, days: Sequence[Day]) -> None:
    """Write days.json. The sums per hour are in the table of contents."""
    fields = [{name: value for name, value in vars(day).items() if name != "hourly"} for day in days]
    (folder / DAYS).write_text(json.dumps({"recipe": recipe, "days": fields}), encoding="ascii")


def load(folder: Path, recipe: str, hourly: list[list[float]]) -> list[Day] | None:
    """The days of a layout with these sums per hour; None if it was made by another recipe."""
    content = json.loads((folder / DAYS).read_bytes())
    if content["recipe"] != recipe:
        return None
    ends = accumulate(len(day["hours"]) for day in content["days"])
    return [
        Day(**day, hourly=hourly[end - len(day["hours"]) : end])
        for day, end in zip(content["days"], ends, strict=True)
    ]


def recipe(definition: Definition, seed: int) -> str:
    """Changes with everything but the rows that a layout depends on."""
    return sha256(f"{seed} {definition.model_dump_json()}".encode()).hexdigest()


def origin(slicer: StoredSlicer, day: date) -> Origin:
    """The files of a day's rows, by name and digest."""
    return [[path.name, slicer.digests.get(path, "")] for path in slicer.files[day]]
