"""An answer's rows for the eye: labels, shares, changes, and what stands for the rows that are not shown."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.reporting.answers import Audience
from lib.reporting.models import DataField, Slicer
from lib.ui.change import Change, Estimate, change
from lib.ui.filter_words import both
from lib.ui.numbers import NOT_SET, Numbers, title
from lib.ui.precision import LEAST_SHOWN, half_range

FEW, LEAST_MISSING = 30, 0.001


@dataclass(frozen=True)
class Split:
    """A split as it is shown: the answer, the same of the days compared with, and the data field in front."""

    answer: Audience
    before: Audience | None
    field: DataField
    slicer: Slicer

    @property
    def keys(self) -> list[str]:
        """The key fields, in the order of the split."""
        return [str(name) for name in self.answer.names]

    @property
    def is_additive(self) -> bool:
        """Whether the field's values of disjoint rows add up, so that shares and the rest mean something."""
        return self.field.name in self.answer.percents

    @property
    def has_share(self) -> bool:
        """Whether the field's shares are to be shown (info, show_percents)."""
        return self.is_additive and self.field.show_percents > 0

    @property
    def segmented(self) -> list[str]:
        """The key fields with several values per record."""
        return [name for name in self.keys if self.slicer.key_field(name).is_segmented]


def labels(split: Split) -> pd.DataFrame:
    """The rows' values in words, a column per key field; with the code where words are not unique."""
    names, described = split.answer.names, split.answer.descriptions
    columns = {}
    for key in split.keys:
        codes = names[key].tolist()
        words = described[key].tolist() if described is not None else codes
        codes_of: dict[str, set[str]] = {}
        for code, text in zip(codes, words, strict=True):
            codes_of.setdefault(text, set()).add(code)
        columns[key] = [
            (both(code, text) if len(codes_of[text]) > 1 else text) or NOT_SET
            for code, text in zip(codes, words, strict=True)
        ]
    return pd.DataFrame(columns, index=names.index)


def row_labels(split: Split) -> list[str]:
    """One label per row: its values in words, joined."""
    return [" · ".join(row) for row in labels(split).itertuples(index=False, name=None)]


def off(split: Split) -> npt.NDArray[np.float64]:
    """How far off each row's value may be, in percent."""
    answer, name = split.answer, split.field.name
    if answer.low is None or answer.high is None or name not in answer.low:
        return np.zeros(len(answer))
    sides = zip(answer.low[name], answer.high[name], answer.values[name], strict=True)
    return np.array([half_range(*side) for side in sides])


def changes(split: Split) -> list[Change]:
    """By how much each row's value changed; unknown for rows that were not there before."""
    if split.before is None:
        return [Change(None)] * len(split.answer)
    earlier = dict(zip(_keys(split.before), _estimates(split.before, split.field.name), strict=True))
    now = zip(_keys(split.answer), _estimates(split.answer, split.field.name), strict=True)
    return [change(estimate, earlier.get(key, Estimate(None))) for key, estimate in now]


def others(split: Split) -> float | None:
    """The volume of the rows that are not shown: the total less the shown ones.

    None where that means nothing: a field that does not add up, several values per record, or no such rows.
    """
    total = split.answer.total
    if not split.is_additive or split.segmented or total.records_found <= len(split.answer):
        return None
    whole = total.values.get(split.field.name)
    return None if whole is None else max(0.0, whole - float(split.answer.values[split.field.name].sum()))


def doubts(split: Split, numbers: Numbers) -> list[str]:
    """Where the sample does not reach: rows that rest on few records, volume in rows that it did not meet."""
    found = []
    name, answer = split.field.name, split.answer
    if answer.n_eff is not None and name in answer.n_eff:
        few = int((answer.n_eff[name][off(split) >= LEAST_SHOWN] < FEW).sum())
        rows = "1 row rests" if few == 1 else f"{numbers.number(few)} rows rest"
        found += [f"{rows} on few records: their figures are rough."] if few else []
    missing, whole = answer.precision and answer.precision.missing.get(name), answer.total.values.get(name)
    if missing and whole and missing / whole >= LEAST_MISSING:
        share = numbers.percent(100 * missing / whole)
        found.append(f"Rows that the sample did not meet may hold {share} of {title(split.field)}.")
    return found


def _keys(answer: Audience) -> list[tuple[str, ...]]:
    return list(answer.names.itertuples(index=False, name=None))


def _estimates(answer: Audience, name: str) -> list[Estimate]:
    values = answer.values[name]
    low = values if answer.low is None or name not in answer.low else answer.low[name]
    high = values if answer.high is None or name not in answer.high else answer.high[name]
    return [Estimate(*sides) for sides in zip(values, low, high, strict=True)]
