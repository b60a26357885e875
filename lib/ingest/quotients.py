"""Figures that are rates: quotients of two amounts, found where a column's name and its rows say the same.

A rate of all rows is that of the sums, so such a column becomes a formula. Where name and rows don't agree,
it is averaged, or is a formula by its rows alone, with a doubt.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lib.ingest import column_names
from lib.ingest.column_guess import ColumnGuess
from lib.ingest.numbers import PERCENT
from lib.slicers.formulas import Field

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


_PERCENTAGES = (
    "averaged, as all values are from 0 to 100 with fractions; if they add up, leave out the aggregate"
)


def find_rates(guesses: Sequence[ColumnGuess], figures: Figures) -> list[ColumnGuess]:
    """The guesses, with data fields that are quotients of two others as formulas, and percentages averaged.

    `figures` are the numbers of data fields in each row of the sample, NaN where there is none; fields that
    come after the sample have none.
    """
    amounts = {
        guess.column: figures[guess.column] for guess in guesses if _is_sum(guess) and guess.column in figures
    }
    numbers = [values[np.isfinite(values)] for values in amounts.values()]
    if any(len(n) and (n % 1 == 0).all() and np.median(n) >= _LARGE_COUNT for n in numbers):
        # Beside large counts the fractions up to 100 of an unknown name are percentages.
        with_means = list(guesses)
        for number, guess in enumerate(guesses):
            is_unknown = guess.doubt and not column_names.is_amount(guess.column)
            if _is_sum(guess) and is_unknown and "unit" not in guess.options and guess.column in figures:
                present = figures[guess.column][np.isfinite(figures[guess.column])]
                is_percentage = (present >= 0).all() and (present <= _PERCENTAGE).all()
                if is_percentage and (present % 1 != 0).any():
                    options = {"aggregate": "mean"} | guess.options
                    with_means[number] = guess._replace(options=options, doubt=_PERCENTAGES)
        guesses = with_means
    quotients, result, rates = _Quotients(amounts), list[ColumnGuess](), 0
    for guess in guesses:
        is_rate = guess.column in figures and (
            guess.options.get("aggregate") == "mean" or guess.doubt or column_names.has_price(guess.column)
        )
        rates += bool(is_rate)
        result.append(
            quotients.settle(guess, figures[guess.column]) if is_rate and rates <= _MOST_RATES else guess
        )
    return result


class _Quotients:
    """The quotients of each two of some amounts, to find what another column is."""

    def __init__(self, amounts: Figures) -> None:
        self._names = list(amounts)[:_MOST_COLUMNS]
        self._rows = np.array([amounts[name][:_MOST_ROWS] for name in self._names])
        count = self._rows.shape[-1]
        self._probe = np.unique(np.linspace(0, max(count - 1, 0), min(_PROBE_ROWS, count)).astype(int))
        with np.errstate(all="ignore"):
            probes = self._rows[:, self._probe] if count else self._rows
            self._ratios = probes[:, None] / probes[None, :] if count else np.zeros((0, 0, 0))

    def settle(self, guess: ColumnGuess, rates: Floats) -> ColumnGuess:
        """The guess as a formula where name and rows, or rows alone, say so; else as it was, or in doubt."""
        rates = rates[:_MOST_ROWS]
        present = np.isfinite(rates)
        tolerance = rounding(rates)
        factors = (100,) if guess.options.get("unit") == PERCENT else _FACTORS
        is_mean = guess.options.get("aggregate") == "mean"
        sizes = np.abs(rates[present & (rates != 0)])
        is_sharp = len(np.unique(sizes)) >= _FEWEST_RATES and tolerance <= _SHARPNESS * np.median(sizes)
        pairs = self._named_pairs(guess.column)
        fits = [
            (rank, -error, Quotient(factor, self._names[top], self._names[bottom]))
            for (top, bottom), rank in pairs.items()
            for factor in factors
            if (error := self._error(rates, top, bottom, factor, tolerance)) is not None
        ]
        if fits and (is_mean or is_sharp):
            rank, _, quotient = max(fits)
            rivals = [
                other.label for its_rank, _, other in fits if its_rank == rank and other[1:] != quotient[1:]
            ]
            return _formula(guess, quotient, f"{rivals[0]} fits too" if rivals else "")
        others = self._search(guess.column, rates, factors, tolerance) if is_sharp and is_mean else []
        if others:
            return _formula(
                guess,
                others[0],
                f"so is {others[1].label}" if len(others) > 1 else "its name does not say so",
            )
        if pairs and is_mean and not guess.doubt:
            top, bottom = max(pairs, key=lambda pair: pairs[pair])
            what = f"{self._names[top]} / {self._names[bottom]}"
            return guess._replace(doubt=f"averaged, as it is not {what} in all rows")
        if not is_mean or guess.doubt:
            return guess
        if column_names.is_rate(guess.column):
            return guess._replace(doubt="averaged, as the file lacks the two columns that it divides")
        # where rows count more than one each, a plain average of them is but a guess
        if any((row % 1 == 0).all() and np.median(row) > 1 for row in np.nan_to_num(self._rows) if len(row)):
            return guess._replace(doubt="averaged, each row counting the same")
        return guess

    def _named_pairs(self, rate: str) -> dict[tuple[int, int], tuple[int, int]]:
        """The pairs of amounts that a rate's name says it divides, each with its rank, the best the highest.

        So `cpc_link` says cost / link_clicks rather than cost / clicks; CTR clicks rather than link_clicks.
        """
        tops, bottoms = column_names.quotient_words(rate)
        words = column_names.split_words(rate)
        has_top = [column_names.common_words(name, tops) > 0 for name in self._names]
        has_bottom = [not bottoms or column_names.common_words(name, bottoms) > 0 for name in self._names]
        common = [column_names.common_words(name, words) for name in self._names]
        lengths = [len(column_names.split_words(name)) for name in self._names]
        return {
            (top, bottom): (common[top] + common[bottom], -lengths[top] - lengths[bottom])
            for top in np.flatnonzero(has_top).tolist()
            for bottom in np.flatnonzero(has_bottom).tolist()
            if top != bottom and rate not in (self._names[top], self._names[bottom])
        }

    def _search(self, rate: str, rates: Floats, factors: Sequence[int], tolerance: float) -> list[Quotient]:
        """The quotients of any two amounts that a column is in all rows."""
        quotients = []
        for factor in factors:
            misses = np.abs(factor * self._ratios - rates[self._probe]) > tolerance
            for top, bottom in np.argwhere(~misses.any(axis=-1)).tolist():
                names = self._names[top], self._names[bottom]
                error = self._error(rates, top, bottom, factor, tolerance) if top != bottom else None
                quotients += [Quotient(factor, *names)] if error is not None and rate not in names else []
        return quotients

    def _error(self, rates: Floats, top: int, bottom: int, factor: int, tolerance: float) -> float | None:
        """How far rates are from a quotient on average; None if one is too far, or is there without it."""
        tops, bottoms = self._rows[top], self._rows[bottom]
        rows = np.isfinite(rates) & np.isfinite(tops) & (np.nan_to_num(bottoms) != 0)
        errors = np.abs(factor * tops[rows] / bottoms[rows] - rates[rows])
        fits = rows.any() and (errors <= tolerance).all() and not np.nan_to_num(rates[~rows]).any()
        return float(errors.mean()) if fits else None


def _formula(guess: ColumnGuess, quotient: Quotient, doubt: str) -> ColumnGuess:
    options = {name: value for name, value in guess.options.items() if name.startswith("display")}
    reason = f"{guess.column} = {quotient.label} in all rows"
    doubt = f"computed as {quotient.label}, but {doubt}" if doubt else ""
    return guess._replace(options=options | {"formula": quotient}, reason=reason, doubt=doubt)


def _is_sum(guess: ColumnGuess) -> bool:
    return not guess.is_key and guess.options.get("aggregate", "sum") == "sum"


def rounding(values: Floats) -> float:
    """How far rounding moves numbers that are written with as many decimals as these, at most 6."""
    present = values[np.isfinite(values)]
    for decimals in range(_MOST_DECIMALS):
        if np.allclose(present, np.round(present, decimals), rtol=0, atol=1e-9):
            return 1.0001 * 10.0**-decimals
    return 1.0001 * 10.0**-_MOST_DECIMALS
