"""Filters as lookup tables: each is evaluated once per distinct value, then taken by code.

A positive match on a segmented key field holds if any element matches, a negative one if none does.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.engines.resident.layout import Layout
from lib.reporting.engines.resident.rows import Rows, elements
from lib.reporting.models import Filter
from lib.wire.deadline import Deadline

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Condition:
    """A table of the values that match (over hours where `name` is None); `negated`: none may match."""

    name: str | None
    table: Mask
    negated: bool = False

    def mask(self, layout: Layout, rows: Rows) -> Mask:
        """Which of these records the condition lets through."""
        if self.name is None:
            found = self.table[layout.time[rows]]
        elif layout.contents.keys[self.name].segmented:
            codes, lengths = elements(layout, self.name, rows)
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
            found = (
                np.logical_or.reduceat(self.table[codes], starts) if len(lengths) else np.zeros(0, dtype=bool)
            )
        else:
            found = self.table[layout.codes(self.name)[rows]]
        return ~found if self.negated else found


def matching(texts: pa.Array, wanted: Filter, mapping: Mapping[str, str], deadline: Deadline) -> Mask:
    """Which of `texts` (or, with search_mappings, of their descriptions) match any of the filter's values.

    The negation in `not equals` and `not contains` is left to the caller: it concerns records, not values.
    A filter may have many thousand values, so the deadline holds here too.
    """
    deadline.check()
    found = _any(texts, wanted, deadline)
    if wanted.search_mappings and mapping:
        described = pa.array([mapping.get(text) for text in texts.to_pylist()], pa.string())
        found = found | _any(described, wanted, deadline)
    return found


def is_negative(wanted: Filter) -> bool:
    """Whether the match asks for records that don't match."""
    return wanted.match.startswith("not ")


def _any(texts: pa.Array, wanted: Filter, deadline: Deadline) -> Mask:
    values = pa.array(wanted.value, pa.string())
    if wanted.case_insensitive:
        texts, values = pc.utf8_lower(texts), pc.utf8_lower(values)
    if wanted.match.endswith("equals"):
        return _mask(pc.is_in(texts, value_set=values, skip_nulls=True))
    compare = {"begins with": pc.starts_with, "ends with": pc.ends_with}.get(wanted.match, pc.match_substring)
    found = np.zeros(len(texts), dtype=bool)
    for value in values.unique().to_pylist():
        deadline.check()
        found |= _mask(compare(texts, value))
    return found


def _mask(matched: pa.Array) -> Mask:
    return np.asarray(matched.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool)
