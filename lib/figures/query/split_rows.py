"""The rows of a split as displayed: labels, shares, changes, and the rest that is not shown."""

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.figures import numbers, series
from lib.figures.numbers import NOT_SET, Numbers, title
from lib.figures.query import ask
from lib.figures.query.compared_answers import Change, ComparedAnswers
from lib.figures.query.filters import both
from lib.figures.query.focus import Focus
from lib.figures.query.precision import LEAST_RANGE, half_range
from lib.reporting import time_filters
from lib.reporting.answers import Audience, remainder
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.granularities import CYCLE_KEY_FIELDS, GRANULARITIES, SPAN_KEY_FIELDS
from lib.slicers.models import DataField, Slicer
from lib.slicers.zones import Zone
from lib.wire.errors import BadRequest
from lib.wire.text import count_of

Bar = tuple[float, float, float]
"""The length of a bar, and the ends of its range, from 0 to 1."""
FEW, LEAST_MISSING = 30, 0.001
BLANKS = re.compile(r"^\s|\s$|(?<=\s)\s|[^\S ]")


@dataclass(frozen=True)
class SplitRows:
    """A split as it is shown: the answer, its rows on the days compared, and the data field in front.

    `period` is the days asked for, where parts of weeks and months are to be named; `today` is not over.
    `day_counts` says on how many days each weekday or hour of the day is, by key field, where these differ.
    `whole` are the totals of both periods. Where rows are chosen by their figures (`is_chosen`), all others
    are the rest. `also` are the same rows, compared with the other days of the question,
    and `against` says which days these are compared with.
    """

    answer: Audience
    pair: ComparedAnswers | None
    field: DataField
    slicer: Slicer
    period: Days | None = None
    today: date | None = None
    whole: ComparedAnswers | None = None
    is_chosen: bool = False
    also: "SplitRows | None" = None
    against: str = ""
    zone: Zone = 0
    day_counts: Mapping[str, Mapping[str, int]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(
        cls,
        focus: Focus,
        answer: Audience,
        pair: ComparedAnswers | None = None,
        whole: ComparedAnswers | None = None,
        is_chosen: bool = False,
    ) -> Self:
        """The rows of an answer to a question of the page."""
        today = ask.today(focus.context, focus.query)
        counts = {key: _day_counts(focus, answer, key) for key in CYCLE_KEY_FIELDS if key in answer.names}
        uneven = {key: days for key, days in counts.items() if len({*days.values()}) > 1}
        rows = (answer, pair, focus.field, focus.slicer, focus.period, today, whole, is_chosen)
        return cls(*rows, zone=focus.zone, day_counts=uneven)

    @property
    def comparisons(self) -> "tuple[SplitRows, ...]":
        """The same rows per comparison."""
        return (self,) if self.also is None else (self, self.also)

    @property
    def keys(self) -> list[str]:
        """The key fields, in the order of the split."""
        return [str(name) for name in self.answer.names]

    @property
    def is_additive(self) -> bool:
        """Whether the field's values add up over disjoint rows, so that shares and the rest make sense."""
        return self.field.name in self.answer.percents

    @property
    def has_share(self) -> bool:
        """Whether the field's shares are shown (info, show_percents)."""
        return self.is_additive and self.field.show_percents > 0

    @property
    def segmented(self) -> list[str]:
        """The key fields with several values per record."""
        return [name for name in self.keys if self.slicer.key_field(name).is_segmented]


def _day_counts(focus: Focus, answer: Audience, key: str) -> dict[str, int]:
    """On how many days each value of the rows is, whatever filters on this key field leave out."""
    others = tuple(filter_ for filter_ in focus.query.filters if filter_.name != key)
    query = focus.query.model_copy(update={"filters": others})
    dates_with_data, now = answer.total.dates, dates.clock(focus.zone)
    counts = time_filters.days_by(key, query, focus.period, dates_with_data, now)
    return {value: counts[value] for value in answer.names[key]}


def per_day(split: SplitRows) -> SplitRows:
    """The same with the field's figures per day, where rows are of so many days that sums would mislead."""
    name, answer = split.field.name, split.answer
    key = next(iter(split.day_counts), None)
    if key is None or not split.is_additive:
        return split
    days = answer.names[key].map({code: count or np.nan for code, count in split.day_counts[key].items()})
    sides = {
        side: frame.assign(**{name: frame[name] / days})
        for side in ("values", "low", "high")
        if (frame := getattr(answer, side)) is not None and name in frame
    }
    field_per_day = split.field.model_copy(update={"description": f"{title(split.field)} per day"})
    return replace(split, answer=replace(answer, **sides), field=field_per_day)


def bars(split: SplitRows, whole: float | None) -> list[Bar | None]:
    """Each row's bar with the ends of its range, as shares of the whole; none where values are below zero.

    A full bar is the whole: a value that makes a sixth of the total fills a sixth of its bar.
    """
    name, answer = split.field.name, split.answer
    values = answer.comparable(name)
    if not split.is_additive or not np.nanmax(values, initial=0) > 0 or np.nanmin(values, initial=0) < 0:
        return [None] * len(values)
    low = high = values
    if answer.low is not None and answer.high is not None and name in answer.low:
        low, high = (side[name].to_numpy(dtype=float) for side in (answer.low, answer.high))
    # In one array: a frame of a few rows takes a hundred times as long, for every card of every answer.
    shares = np.clip(np.column_stack([values, low, high]) / (whole or np.nansum(values)), 0, 1)
    return [None if any(map(math.isnan, row)) else (row[0], row[1], row[2]) for row in shares.tolist()]


def labels(split: SplitRows) -> pd.DataFrame:
    """The rows' values in words, a column per key field; with the code where words are not unique, and with
    visible blanks where nothing else tells them apart.

    A week or month that the period cuts says how much of it there is.
    """
    names, frame = split.answer.names, split.answer.descriptions
    columns = {}
    for key in split.keys:
        codes = names[key].tolist()
        texts = frame[key].tolist() if frame is not None else codes
        if key in SPAN_KEY_FIELDS:
            grain = SPAN_KEY_FIELDS[key]
            marks = series.mark_texts(grain, split.period, split.zone) if split.period else {}
            parts = (_part(split, key, code) or marks.get(code, "") for code in codes)
            labels = zip(map(GRANULARITIES[grain].label, codes), parts, strict=True)
            columns[key] = [f"{label} ({part})" if part else label or NOT_SET for label, part in labels]
            continue
        if key in split.day_counts:
            texts = [f"{code} ({count_of(split.day_counts[key][code], 'day')})" for code in codes]
        codes_of: dict[str, set[str]] = {}
        looks = [" ".join(text.split()) for text in texts]  # a browser draws runs of blanks as one
        for code, look in zip(codes, looks, strict=True):
            codes_of.setdefault(look, set()).add(code)
        columns[key] = [
            (BLANKS.sub("·", both(code, text)) if len(codes_of[look]) > 1 else text) or NOT_SET
            for code, text, look in zip(codes, texts, looks, strict=True)
        ]
    return pd.DataFrame(columns, index=names.index)


def _part(split: SplitRows, key: str, code: str) -> str:
    """How much of a week or month the period covers; empty if the value has an unknown notation."""
    try:
        return series.part(SPAN_KEY_FIELDS[key], code, split.period, split.today) if split.period else ""
    except BadRequest:
        return ""


def row_labels(split: SplitRows) -> list[str]:
    """One label per row: its values in words, joined."""
    return [" · ".join(row) for row in labels(split).itertuples(index=False, name=None)]


def amounts(answer: Audience, name: str) -> list[float]:
    """The rows' values of a data field; those of money with their currencies."""
    values: list[float] = answer.values[name].tolist()
    if answer.currencies is None or name not in answer.currencies:
        return values
    return [numbers.Money.of(*pair) for pair in zip(values, answer.currencies[name], strict=True)]


def total_amount(answer: Audience, name: str) -> float | None:
    """The same of the total."""
    value = answer.total.values.get(name)
    return value if value is None else numbers.Money.of(value, answer.total.currencies.get(name, ""))


def half_ranges(split: SplitRows) -> npt.NDArray[np.float64]:
    """The larger side of the range of each row's value, in percent."""
    answer, name = split.answer, split.field.name
    if answer.low is None or answer.high is None or name not in answer.low:
        return np.zeros(len(answer))
    sides = zip(answer.low[name], answer.high[name], answer.values[name], strict=True)
    return np.array([half_range(*side) for side in sides])


def ranks(split: SplitRows) -> list[str]:
    """Each row's place among all rows, the largest first: `2–4` where ranges overlap and can't be told apart.

    `18+` where rows that are not shown may stand as high. Empty for exact rows: their order says it.
    """
    answer, name = split.answer, split.field.name
    if answer.low is None or answer.high is None or not (half_ranges(split) >= LEAST_RANGE).any():
        return []
    low, high, values = (
        frame[name].to_numpy(dtype=float) for frame in (answer.low, answer.high, answer.values)
    )
    first = [1 + int((low > top).sum()) for top in high]
    last = [int((high >= bottom).sum()) for bottom in low]
    is_cut = answer.total.records_found > len(answer)
    least = np.nanmin(values, initial=np.inf)
    is_open = [is_cut and bool(bottom <= least) for bottom in low]
    is_finite = np.isfinite(low) & np.isfinite(high)
    texts = [
        f"{rank}+" if may_be_lower else str(rank) if rank >= end else f"{rank}–{end}"
        for rank, end, may_be_lower in zip(first, last, is_open, strict=True)
    ]
    return [text if is_known else "" for text, is_known in zip(texts, is_finite, strict=True)]


def few(split: SplitRows) -> npt.NDArray[np.bool_]:
    """A mask of the rows based on few records: estimates, and ratios even if exact."""
    answer, name = split.answer, split.field.name
    if answer.n_eff is None or name not in answer.n_eff:
        return np.zeros(len(answer), dtype=bool)
    is_rough = ~(half_ranges(split) < LEAST_RANGE) | (split.field.formula is not None)
    has_value = answer.values[name].notna().to_numpy()
    is_few: npt.NDArray[np.bool_] = is_rough & has_value & (answer.n_eff[name] < FEW).to_numpy()
    return is_few


def changes(split: SplitRows) -> list[Change]:
    """The change of each row's value; missing for rows that did not exist before."""
    by_row = split.pair.rows(split.field) if split.pair is not None else {}
    return [by_row.get(key, Change(None)) for key in split.answer.names.itertuples(index=False, name=None)]


def coverage(split: SplitRows) -> str:
    """` (25 of 30 days)`, to follow what names a change: the days of both sides where some are missing."""
    text = split.pair.coverage.text if split.pair is not None else ""
    return f" ({text})" if text else ""


def total_change(split: SplitRows) -> Change:
    """The change of the total; none where the totals of both periods are not there."""
    return Change(None) if split.whole is None else split.whole.total(split.field)


def others_change(split: SplitRows) -> Change:
    """The change of the rows that are not shown, where their volume means something."""
    if split.whole is None or split.pair is None or others(split) is None:
        return Change(None)
    sides = split.whole.now.total_of(split.field.name), split.whole.before.total_of(split.field.name)
    keys = [*split.answer.names.itertuples(index=False, name=None)]
    return split.pair.rest(split.field, sides, keys)


def others(split: SplitRows) -> float | None:
    """The volume of the rows that are not shown: the total less the shown ones.

    None where that means nothing: a field that does not add up, several values per record, no such rows, or
    estimates that add up to more than their total.
    """
    total = split.answer.total
    is_all = total.records_found <= len(split.answer) and not split.is_chosen
    if not split.is_additive or split.segmented or is_all:
        return None
    name, answer = split.field.name, split.answer
    return remainder(total.values.get(name), answer.values[name], answer.is_sampled)


def doubts(split: SplitRows, reader: Numbers) -> list[str]:
    """Why money has no total, and limits of the sample: rows based on few records, volume that it missed."""
    name, answer = split.field.name, split.answer
    withheld = answer.total.withheld(name)
    sentences = [f"{title(split.field)}: {withheld}."] if withheld else []
    if answer.n_eff is not None and name in answer.n_eff:
        unsure = ~(half_ranges(split) < LEAST_RANGE) & answer.values[name].notna().to_numpy()
        few = int((answer.n_eff[name][unsure] < FEW).sum())
        rows = "1 row is based" if few == 1 else f"{reader.number(few)} rows are based"
        sentences += [f"{rows} on few records: their figures are rough."] if few else []
    missing, whole = answer.total.missing.get(name), answer.total.values.get(name)
    if missing and whole and missing / whole >= LEAST_MISSING:
        share = reader.percent(100 * missing / whole)
        sentences.append(f"Rows missing from the sample may hold {share} of {title(split.field)}.")
    return sentences
