"""Numbers that describe what a row is about, such as the goal of its line item: they are no amounts.

Such a number is the same in all rows of each value of another column. Where its name says so too, the largest
is taken, which is the number itself wherever that column tells rows apart.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.ingest import cells, column_names
from lib.ingest.column_guess import ColumnGuess

Floats = npt.NDArray[np.float64]
_NAMES = {
    "bid", "booked", "budget", "budgets", "cap", "caps", "contracted", "goal", "goals", "planned", "quota",
    "target", "targets",
}  # fmt: skip
_FEWEST_ROWS, _FEWEST_VALUES = 3, 2


def find_attributes(
    guesses: Sequence[ColumnGuess], columns: Mapping[str, pa.Array], figures: Mapping[str, Floats]
) -> list[ColumnGuess]:
    """The guesses, with sums that repeat by another column as maxima; as doubtful where no name says so."""
    firsts = dict[str, npt.NDArray[np.int64]]()  # of each key field, for each row the first with its value
    for guess in guesses:
        if guess.is_key and not pa.types.is_nested(columns[guess.column].type):
            texts = pc.fill_null(cells.text(columns[guess.column]), "")
            codes = texts.dictionary_encode().indices.to_numpy().astype(np.int64)
            counts = np.bincount(codes) if len(codes) else np.zeros(1, np.int64)
            if len(counts) >= _FEWEST_VALUES and counts.min() >= _FEWEST_ROWS:
                firsts[guess.column] = np.unique(codes, return_index=True)[1][codes]
    return [_as_attribute(guess, firsts, figures) for guess in guesses]


def _as_attribute(
    guess: ColumnGuess, firsts: Mapping[str, npt.NDArray[np.int64]], figures: Mapping[str, Floats]
) -> ColumnGuess:
    values = figures.get(guess.column)
    is_sum = not guess.is_key and not {"aggregate", "formula"} & guess.options.keys()
    if not is_sum or values is None:
        return guess
    is_named = not _NAMES.isdisjoint(column_names.split_words(guess.column))
    present = values[np.isfinite(values)]
    if len(np.unique(present)) < _FEWEST_VALUES:
        is_doubtful = is_named and len(present) >= _FEWEST_ROWS
        doubt = "added up, though the same in all rows; if it describes them, write aggregate: max"
        return guess._replace(doubt=doubt) if is_doubtful else guess
    same = (name for name, rows in firsts.items() if np.array_equal(values[rows], values, equal_nan=True))
    owner = next(same, None)
    if owner is None:
        return guess
    if is_named:
        doubt = f"the same in all rows of each {owner}, so the largest is shown and nothing is added up"
        return guess._replace(options={"aggregate": "max"} | guess.options, doubt=doubt)
    doubt = (
        f"added up, though the same in all rows of each {owner}; if it describes that, write aggregate: max"
    )
    return guess._replace(doubt=doubt)
