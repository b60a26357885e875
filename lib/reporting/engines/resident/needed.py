"""How much memory a question may take, from what is known before anything is added up."""

import functools
import math

import numpy as np

from lib.reporting.engines.resident.adding import LARGEST_PIECE
from lib.reporting.engines.resident.query import Query
from lib.reporting.engines.resident.rows import Rows, chunks, count
from lib.reporting.measures import is_additive

COPIES = 3  # sums of each of two threads, and of both together
SIDES = 5  # of a data field in an answer: value, percent, low, high, n_eff
NAME_BYTES, KEY_BYTES, NUMBER_BYTES = 40, 16, 8
PLACE_BYTES = 8  # the place of an element's group, and where a record's elements end


def needed_bytes(query: Query) -> int:
    """The most bytes that sums, keys and answer take together; what is mapped from disk is not counted.

    Filters are not looked at: what they leave is known only afterwards.
    """
    if query.is_timed:
        return 0
    place = query.grid_place
    records = query.records_in_range if place is None else query.records_drawn(place)
    every, largest_piece = _elements(query)
    elements = math.ceil(every * records / max(1, query.records_in_range))
    groups = min(query.split.groups, elements)
    if query.question.max_groups is not None:
        groups = min(groups, query.question.max_groups)
    sums = COPIES * groups * NUMBER_BYTES * _columns(query, place is not None)
    fields = max(1, len(query.question.atoms))
    answer = groups * (SIDES * fields * NUMBER_BYTES + NAME_BYTES * len(query.split.fields))
    piece = min(elements, largest_piece) * 2 * KEY_BYTES * query.threads
    return sums + answer + piece + PLACE_BYTES * elements + _identities(query, groups, elements)


def _elements(query: Query) -> tuple[int, int]:
    """How many pairs of a record and a group the period has, and the most that one piece of it has."""
    columns = query.layout.contents.keys
    names = [field.name for field in query.split.fields if field.hours is None]
    pieces = chunks(query.layout, query.period, None, LARGEST_PIECE)
    counts = [_products(query, piece, [n for n in names if columns[n].segmented]) for piece in pieces]
    return sum(counts), max(counts, default=0)


def _products(query: Query, piece: Rows, segmented: list[str]) -> int:
    """How many combinations of elements these records have, of these key fields."""
    if not segmented or not isinstance(piece, slice):
        return count(piece)
    edges = [query.layout.indptr(name)[piece.start : piece.stop + 1] for name in segmented]
    if len(edges) == 1:
        return int(edges[0][-1] - edges[0][0])
    return int(functools.reduce(np.multiply, map(np.diff, edges)).sum())


def _columns(query: Query, sampled: bool) -> int:
    if sampled:
        return 3 * len(query.atoms) + len(query.question.pairs)
    blocks = {0, *(query.layout.lane[atom][0] for atom in query.atoms)}
    spans = [query.layout.spans[block] for block in blocks]
    return sum(span.stop - span.start for span in spans)


def _identities(query: Query, groups: int, elements: int) -> int:
    """The largest set of pairs of a group and a value that a distinct count may need."""
    known = query.layout.contents.distinct
    counted = (atom.partition(":")[2] for atom in query.question.atoms if not is_additive(atom))
    values = [known[name].values for name in counted if name in known]
    return max((KEY_BYTES * min(elements, groups * value) for value in values), default=0)
