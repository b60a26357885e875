"""Filters as lookup tables: each is evaluated once per distinct value, then taken by code.

A positive match on a segmented key field holds if any element matches, a negative one if none does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.engines.resident.layout import Ints, Layout
from lib.reporting.engines.resident.rows import Rows, elements
from lib.reporting.engines.resident.split import Split
from lib.reporting.engines.resident.substrings import TESTS, matching_any
from lib.reporting.matches import Rule, rule
from lib.reporting.models import Filter
from lib.wire.deadline import Deadline

FEW = 8  # values that are looked for one after the other in less time than all together
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Condition:
    """A table of the values that match (over hours where `name` is None); `negated`: none may match."""

    name: str | None
    table: Mask
    negated: bool = False

    def mask(self, layout: Layout, rows: Rows) -> Mask:
        """A mask of these records that pass the condition."""
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


@dataclass(frozen=True)
class InGroups:
    """Records that belong to one of the groups `keys` of a split."""

    split: Split
    keys: Ints
    name: str = "groups"

    def mask(self, layout: Layout, rows: Rows) -> Mask:
        """A mask of these records that pass the condition."""
        keys, indptr = self.split.keys(rows, None)
        found = np.concatenate([[0], np.cumsum(np.isin(keys, self.keys))])
        return np.asarray(np.diff(found[indptr]) > 0)


def matching(texts: pa.Array, wanted: Filter, mapping: Mapping[str, str], deadline: Deadline) -> Mask:
    """A mask of `texts` (or, with search_mappings, descriptions) that match any of the filter's values.

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
    return rule(wanted.match).is_negative


def _any(texts: pa.Array, wanted: Filter, deadline: Deadline) -> Mask:
    values = pa.array(wanted.value, pa.string())
    if wanted.case_insensitive:
        texts, values = pc.utf8_lower(texts), pc.utf8_lower(values)
    match = rule(wanted.match)
    if match.test == "equals":
        return _mask(pc.is_in(texts, value_set=values, skip_nulls=True))
    different = values.unique().to_pylist()
    if match.test not in TESTS:
        return _by_rule(texts, different, match, deadline)
    if match.test != "contains" or len(different) > FEW:
        return matching_any(texts, different, match.test, deadline)
    found = np.zeros(len(texts), dtype=bool)
    for value in different:
        deadline.check()
        found |= _mask(pc.match_substring(texts, value))
    return found


def _by_rule(texts: pa.Array, values: Sequence[str], match: Rule, deadline: Deadline) -> Mask:
    """A text at a time, for a test that has no quicker way."""
    found = np.zeros(len(texts), dtype=bool)
    for place, text in enumerate(texts.to_pylist()):
        deadline.check()
        found[place] = text is not None and any(match.holds(text, value) for value in values)
    return found


def _mask(matched: pa.Array) -> Mask:
    return np.asarray(matched.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool)
