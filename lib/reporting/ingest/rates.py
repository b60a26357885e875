"""Which figures are rates, by the other figures in their rows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lib.reporting.formulas import Field
from lib.reporting.ingest import column_names
from lib.reporting.ingest.column_guess import ColumnGuess

Floats = npt.NDArray[np.float64]
Figures = Mapping[str, Floats]
_FACTORS = (1, 100, 1000)
_FEWEST_RATES = 3
_MOST_ROWS = 2_000
_PROBE_ROWS = 8
_MOST_COLUMNS, _MOST_RATES = 60, 500
_MOST_DECIMALS = 6
_SHARPNESS = 0.02  # of a quotient: rounding hides at most so much of it, else any two columns would do
_LARGE_COUNT, _PERCENTAGE = 100, 100


class Quotient(NamedTuple):
    """A column that is `factor` × numerator / denominator in all rows of the sample."""

    factor: int
    numerator: str
    denominator: str

    @property
    def label(self) -> str:
        """In words: `100 × Clicks / Impressions`."""
        return f"{f'{self.factor:,} × ' if self.factor > 1 else ''}{self.numerator} / {self.denominator}"

    def formula(self, names: Mapping[str, str]) -> str:
        """As a definition has it, with the names of fields by columns."""
        top, bottom = (str(Field(names[column])) for column in (self.numerator, self.denominator))
        return f"{f'{self.factor} * ' if self.factor > 1 else ''}{top} / {bottom}"


def find_rates(guesses: Sequence[ColumnGuess], figures: Figures) -> list[ColumnGuess]:
    """The guesses, with data fields that are quotients of two others as formulas, and percentages averaged.

    `figures` are the numbers of data fields in each row of the sample, NaN where there is none; fields that
    come after the sample have none.
    """
    amounts = {
        guess.column: figures[guess.column] for guess in guesses if _is_sum(guess) and guess.column in figures
    }
    if any(map(_is_count, amounts.values())):
        guesses = [_as_mean(guess, figures) for guess in guesses]
    quotients, result, rates = Quotients(amounts), list[ColumnGuess](), 0
    for guess in guesses:
        is_rate = guess.column in figures and (guess.options.get("aggregate") == "mean" or guess.doubt)
        rates += bool(is_rate)
        quotient = quotients.find(guess.column, figures) if is_rate and rates <= _MOST_RATES else None
        result.append(guess if quotient is None else _with_quotient(guess, quotient))
    return result


class Quotients:
    """The quotients of each two of some amounts, to find what another column is."""

    def __init__(self, amounts: Figures) -> None:
        self._names = list(amounts)[:_MOST_COLUMNS]
        self._rows = np.array([amounts[name][:_MOST_ROWS] for name in self._names])
        count = self._rows.shape[-1]
        self._probe = np.unique(np.linspace(0, max(count - 1, 0), min(_PROBE_ROWS, count)).astype(int))
        with np.errstate(all="ignore"):
            some = self._rows[:, self._probe] if count else self._rows
            self._some = some[:, None] / some[None, :] if count else np.zeros((0, 0, 0))

    def find(self, column: str, figures: Figures) -> Quotient | None:
        """The amounts whose quotient a column is in all rows, as far as its decimals tell; else None."""
        rates = figures[column][:_MOST_ROWS]
        present = np.isfinite(rates)
        tolerance = 1.0001 * 10.0 ** -_decimals(rates[present])
        sizes = np.abs(rates[present & (rates != 0)])
        if len(np.unique(sizes)) < _FEWEST_RATES or tolerance > _SHARPNESS * np.median(sizes):
            return None
        for factor in _FACTORS:
            misses = np.abs(factor * self._some - rates[self._probe]) > tolerance
            for top, bottom in np.argwhere(~misses.any(axis=-1)).tolist():
                names = self._names[top], self._names[bottom]
                if (
                    top != bottom
                    and column not in names
                    and self._fits(rates, top, bottom, factor, tolerance)
                ):
                    return Quotient(factor, *names)
        return None

    def _fits(self, rates: Floats, top: int, bottom: int, factor: int, tolerance: float) -> bool:
        """Whether rates are a quotient wherever there is one, and zero or missing elsewhere."""
        tops, bottoms = self._rows[top], self._rows[bottom]
        rows = np.isfinite(rates) & np.isfinite(tops) & (np.nan_to_num(bottoms) != 0)
        is_zero = np.nan_to_num(rates[~rows]) == 0
        fits = np.abs(factor * tops[rows] / bottoms[rows] - rates[rows]) <= tolerance
        return bool(rows.sum() >= _FEWEST_RATES and fits.all() and is_zero.all())


def _with_quotient(guess: ColumnGuess, quotient: Quotient) -> ColumnGuess:
    options = {name: value for name, value in guess.options.items() if name.startswith("display")}
    reason = f"{guess.column} = {quotient.label} in all rows"
    return guess._replace(options=options | {"formula": quotient}, reason=reason, doubt="")


def _as_mean(guess: ColumnGuess, figures: Figures) -> ColumnGuess:
    """The guess, as a mean where an unknown name has fractions up to 100 beside large counts."""
    values = figures.get(guess.column)
    if values is None or not guess.doubt or not _is_sum(guess):
        return guess
    present = values[np.isfinite(values)]
    is_percentage = (present >= 0).all() and (present <= _PERCENTAGE).all() and (present % 1 != 0).any()
    if not is_percentage or column_names.is_amount(guess.column) or "unit" in guess.options:
        return guess
    doubt = (
        "averaged, as all values are from 0 to 100 with fractions; if they add up, leave out the aggregate"
    )
    return guess._replace(options={"aggregate": "mean"} | guess.options, doubt=doubt)


def _is_sum(guess: ColumnGuess) -> bool:
    return not guess.is_key and guess.options.get("aggregate", "sum") == "sum"


def _is_count(values: Floats) -> bool:
    present = values[np.isfinite(values)]
    return bool(len(present) and (present % 1 == 0).all() and np.median(present) >= _LARGE_COUNT)


def _decimals(values: Floats) -> int:
    """How many decimals these numbers are written with, at most 6."""
    for decimals in range(_MOST_DECIMALS):
        if np.allclose(values, np.round(values, decimals), rtol=0, atol=1e-9):
            return decimals
    return _MOST_DECIMALS
