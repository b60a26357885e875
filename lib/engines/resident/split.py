"""The group of each record: the codes of the split's key fields as one number, mixed radix."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.engines.resident.accumulate import Indptr, Keys, Places, Rows, count, elements, one_each, ranges
from lib.engines.resident.layout import Ints, Layout
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.wire.errors import BadRequest

LARGEST_KEY = 2**62


@dataclass(frozen=True)
class SplitField:
    """One key field of a split: how many values it has, and for time fields the place of each hour's text."""

    name: str
    values: pa.Array
    hours: Places | None = None


class Split:
    """The key fields of a split in order, and the keys of records under them.

    Keys of n records: the group of each element, and an `indptr` of n + 1 that says which elements are whose
    (one each, unless a key field is segmented or a record is filtered out).
    """

    def __init__(self, layout: Layout, names: tuple[str, ...], local_hours: Ints) -> None:
        """`local_hours` are the layout's hours in the question's zone."""
        self.layout, self.fields = layout, list[SplitField]()
        for name in names:
            if name in TIME_KEY_FIELDS:
                texts, places = np.unique(TIME_KEY_FIELDS[name].write(local_hours), return_inverse=True)
                self.fields.append(SplitField(name, pa.array(texts, pa.string()), places.astype(np.int32)))
            else:
                self.fields.append(SplitField(name, layout.dictionary(name)))
        self.radices = [max(1, len(field.values)) for field in self.fields]
        self.groups = math.prod(self.radices)
        if self.groups > LARGEST_KEY:
            raise BadRequest(
                f"A split by {', '.join(names)} has too many combinations; choose fewer key fields"
            )
        self.dtype: type[np.signedinteger[Any]] = np.int32 if self.groups < 2**31 else np.int64

    @property
    def is_segmented(self) -> bool:
        """Whether a record may belong to several groups."""
        return any(self._is_segmented(field) for field in self.fields)

    def keys(self, rows: Rows, subset: Ints | None) -> tuple[Keys, Indptr]:
        """The groups of records `rows`, of which only those at `subset` count (None: all of them)."""
        if self.is_segmented:
            return self._keys_of_elements(rows, subset)
        keys: Keys | None = None
        for field, radix in zip(self.fields, self.radices, strict=True):
            field_places = self._places(field, rows)
            places = (field_places if subset is None else field_places[subset]).astype(self.dtype, copy=False)
            keys = places if keys is None else _join(keys, radix, places)
        if keys is None:
            keys = np.zeros(count(rows) if subset is None else len(subset), dtype=self.dtype)
        return keys, _indptr(subset, count(rows))

    def _keys_of_elements(self, rows: Rows, subset: Ints | None) -> tuple[Keys, Indptr]:
        """Keys where a record has one for each of its elements."""
        if len(self.fields) == 1 and subset is None:
            codes, lengths = elements(self.layout, self.fields[0].name, rows)
            return codes.astype(self.dtype), _ends(lengths)
        owner = np.arange(count(rows)) if subset is None else subset
        keys: Keys = np.zeros(len(owner), dtype=self.dtype)
        for field, radix in zip(self.fields, self.radices, strict=True):
            if self._is_segmented(field):
                # Each key with each element of its record: the keys and owners of all combinations.
                codes, lengths = elements(self.layout, field.name, rows)
                counts = lengths[owner]
                places = ranges((np.cumsum(lengths) - lengths)[owner], counts)
                keys, owner = _join(np.repeat(keys, counts), radix, codes[places]), np.repeat(owner, counts)
            else:
                keys = _join(keys, radix, self._places(field, rows)[owner])
        return keys, _indptr(owner, count(rows))

    def keys_of(self, names: pd.DataFrame) -> Ints:
        """The keys of these groups: a text column per key field of the split."""
        keys = np.zeros(len(names), dtype=np.int64)
        for field, radix in zip(self.fields, self.radices, strict=True):
            texts = pa.array(names[field.name], pa.string())
            places = pc.index_in(texts, value_set=field.values)
            keys = keys * radix + np.asarray(places, dtype=np.int64)
        return keys

    def hour_keys(self, hours: Ints) -> Ints:
        """The groups of these places among the hours, for a split by time alone."""
        keys = np.zeros(len(hours), dtype=np.int64)
        for field, radix in zip(self.fields, self.radices, strict=True):
            if field.hours is None:
                raise ValueError(f"{field.name} is not a time key field")
            keys = keys * radix + field.hours[hours]
        return keys

    def columns(self, keys: Ints) -> dict[str, pa.DictionaryArray]:
        """What the keys stand for, a column per field."""
        columns = {}
        keys = keys.astype(self.dtype)
        for field, radix in zip(reversed(self.fields), reversed(self.radices), strict=True):
            above = keys // self.dtype(radix)
            codes = keys - above * self.dtype(radix)
            columns[field.name] = pa.DictionaryArray.from_arrays(codes, field.values, safe=False)
            keys = above
        return {field.name: columns[field.name] for field in self.fields}

    def _is_segmented(self, field: SplitField) -> bool:
        return field.hours is None and self.layout.contents.keys[field.name].segmented

    def _places(self, field: SplitField, rows: Rows) -> npt.NDArray[np.integer[Any]]:
        if field.hours is not None:
            return field.hours.take(self.layout.time[rows])  # in half the time of an index
        codes: npt.NDArray[np.integer[Any]] = self.layout.codes(field.name)[rows]
        return codes


def _join(keys: Keys, radix: int, places: npt.NDArray[np.integer[Any]]) -> Keys:
    """Each key with the place of one more field; the array `keys` is used up."""
    keys *= keys.dtype.type(radix)
    keys += places.astype(keys.dtype, copy=False)
    return keys


def _indptr(owner: Ints | None, records: int) -> Indptr:
    return one_each(records) if owner is None else _ends(np.bincount(owner, minlength=records))


def _ends(lengths: Ints) -> Indptr:
    """Where the elements of each record begin, and the end of the last, from how many each has."""
    indptr = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=indptr[1:])
    return indptr
