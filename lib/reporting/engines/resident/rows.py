"""The records that a question reads: the days of its period, and a prefix of each day.

`Rows` are record numbers: a slice where they lie side by side, an array of numbers where they don't.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lib.reporting.engines.resident.layout import Ints, Layout

Rows = slice | Ints
CHUNK = 1 << 17


@dataclass(frozen=True)
class Period:
    """The days asked for, as places in the layout: days `low` to `high` (exclusive), and the hours inside.

    `local` are the layout's hours in the question's zone; `whole` says that every record of those days is
    inside, so that no record needs to be looked at for its time.
    """

    low: int
    high: int
    inside: npt.NDArray[np.bool_]
    local: Ints
    whole: bool

    @classmethod
    def of(cls, layout: Layout, days: tuple[int, int], zone: int, own_zone: int) -> "Period":
        """The period of `days` (first, last; since 1970) in `zone`, in a layout whose days are in `own_zone`.

        Zones are hours east of UTC. Daily rows know no hours: both zones are 0 for them.
        """
        begin, end = 24 * days[0] - zone, 24 * (days[1] + 1) - zone
        opens = 24 * layout.days - own_zone
        places = np.flatnonzero((opens < end) & (opens + 24 > begin))
        low, high = (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
        inside = (layout.hours >= begin) & (layout.hours < end)
        whole = bool(len(places) == 0 or (opens[low] >= begin and opens[high - 1] + 24 <= end))
        return cls(low, high, inside, layout.hours + zone, whole)

    def span(self, layout: Layout) -> slice:
        """All records of the period's days; they lie side by side."""
        return slice(int(layout.starts[self.low]), int(layout.starts[self.high]))


def threshold(layout: Layout, period: Period, limit: int | None) -> int | None:
    """The place in the grid of the largest τ that draws at most `limit` records; None to read them all."""
    counts = layout.drawn[period.low : period.high].sum(axis=0)
    if limit is None or period.low == period.high or counts[-1] <= limit:
        return None
    return max(0, int(np.searchsorted(counts, limit, side="right")) - 1)


def chunks(layout: Layout, period: Period, place: int | None, size: int = CHUNK) -> list[Rows]:
    """The records to read, in pieces of about `size`: all of the period's days, or what grid[place] draws."""
    if place is None:
        whole = period.span(layout)
        return [slice(at, min(at + size, whole.stop)) for at in range(whole.start, whole.stop, size)]
    starts = layout.starts[period.low : period.high]
    return list(parts(ranges(starts, layout.drawn[period.low : period.high, place]), size))


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """`starts[0] … starts[0]+lengths[0]-1, starts[1] …` as one array."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)


def count(rows: Rows) -> int:
    """How many records these are."""
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def numbers(rows: Rows) -> Ints:
    """The record numbers, as an array."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def elements(layout: Layout, name: str, rows: Rows) -> tuple[npt.NDArray[np.unsignedinteger], Ints]:
    """The codes of a segmented key field in these records, one after the other, and how many each has."""
    codes, indptr = layout.codes(name), layout.indptr(name)
    if isinstance(rows, slice):
        edges = indptr[rows.start : rows.stop + 1]
        return codes[edges[0] : edges[-1]], np.diff(edges)
    starts, lengths = indptr[rows], indptr[rows + 1] - indptr[rows]
    return codes[ranges(starts, lengths)], lengths


def parts(records: Ints, size: int) -> Iterator[Ints]:
    """`records` in pieces of `size`."""
    return (records[at : at + size] for at in range(0, len(records), size))
