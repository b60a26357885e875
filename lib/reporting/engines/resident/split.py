"""Which group each record belongs to: the codes of the split's key fields as one number, mixed radix."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.dates import format_time
from lib.reporting.engines.resident.layout import Ints, Layout
from lib.reporting.engines.resident.rows import Rows, count, elements, ranges
from lib.reporting.models import TIME_KEY_FIELDS
from lib.wire.errors import BadRequest

LARGEST_KEY = 2**62

Indptr = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SplitField:
    """One key field of a split: how many values it has, and for time fields the place of each hour's text."""

    name: str
    values: pa.Array
    hours: Ints | None = None

    @classmethod
    def of(cls, layout: Layout, name: str, local_hours: Ints) -> "SplitField":
        """The field `name`; `local_hours` are the layout's hours in the question's zone."""
        if name not in TIME_KEY_FIELDS:
            return cls(name, layout.dictionary(name))
        texts, places = np.unique(
            np.asarray(format_time(TIME_KEY_FIELDS[name], local_hours), dtype=object), return_inverse=True
        )
        return cls(name, texts, places)


class Split:
    """The key fields of a split in order, and the keys of records under them.

    Keys of n records: the group of each element, and an `indptr` of n + 1 that says which elements are whose
    (one each, unless a key field is segmented or a record is filtered out).
    """

    def __init__(self, layout: Layout, names: tuple[str, ...], local_hours: Ints) -> None:
        self.layout = layout
        self.fields = [SplitField.of(layout, name, local_hours) for name in names]
        self.radices = [max(1, len(field.values)) for field in self.fields]
        self.groups = math.prod(self.radices)
        if self.groups > LARGEST_KEY:
            raise BadRequest(
                f"A split by {', '.join(names)} has too many combinations; choose fewer key fields"
            )

    @property
    def is_segmented(self) -> bool:
        """Whether a record may belong to several groups."""
        return any(self._segmented(field) for field in self.fields)

    def keys(self, rows: Rows, picked: Ints | None) -> tuple[Ints, Indptr]:
        """The groups of records `rows`, of which only those at `picked` count (None: all of them)."""
        owner = picked
        keys = np.zeros(count(rows) if picked is None else len(picked), dtype=np.int64)
        for field, radix in zip(self.fields, self.radices, strict=True):
            if self._segmented(field):
                codes, lengths = elements(self.layout, field.name, rows)
                owner = np.arange(count(rows)) if owner is None else owner
                keys, owner = _product(keys * radix, owner, codes, lengths)
            else:
                places = self._places(field, rows)
                keys = keys * radix + (places if owner is None else places[owner])
        return keys, _indptr(owner, count(rows))

    def keys_of(self, names: pd.DataFrame) -> Ints:
        """The keys of these groups: a text column per key field of the split."""
        keys = np.zeros(len(names), dtype=np.int64)
        for field, radix in zip(self.fields, self.radices, strict=True):
            texts = pa.array(names[field.name], pa.string())
            places = pc.index_in(texts, value_set=pa.array(field.values, pa.string()))
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

    def frame(self, keys: Ints) -> pd.DataFrame:
        """One row per key and one Categorical per field: what the keys stand for."""
        columns = {}
        for field, radix in zip(reversed(self.fields), reversed(self.radices), strict=True):
            keys, codes = np.divmod(keys, radix)
            used, places = np.unique(codes, return_inverse=True)
            texts = (
                field.values.take(pa.array(used)).to_numpy(zero_copy_only=False)
                if isinstance(field.values, pa.Array)
                else field.values[used]
            )
            columns[field.name] = pd.Categorical.from_codes(places, categories=pd.Index(texts, dtype="str"))
        return pd.DataFrame(
            {field.name: columns[field.name] for field in self.fields}, index=pd.RangeIndex(len(keys))
        )

    def _segmented(self, field: SplitField) -> bool:
        return field.hours is None and self.layout.contents.keys[field.name].segmented

    def _places(self, field: SplitField, rows: Rows) -> Ints:
        codes = self.layout.time[rows] if field.hours is not None else self.layout.codes(field.name)[rows]
        return field.hours[codes] if field.hours is not None else codes.astype(np.int64)


def _product(
    keys: Ints, owner: Ints, codes: npt.NDArray[np.unsignedinteger], lengths: Ints
) -> tuple[Ints, Ints]:
    """Each key joined with each element of its record: the keys and owners of all combinations."""
    starts = np.cumsum(lengths) - lengths
    counts = lengths[owner]
    joined = np.repeat(keys, counts) + codes[ranges(starts[owner], counts)]
    return joined, np.repeat(owner, counts)


def _indptr(owner: Ints | None, records: int) -> Indptr:
    if owner is None:
        return np.arange(records + 1, dtype=np.int32)
    ends = np.cumsum(np.bincount(owner, minlength=records))
    return np.concatenate([[0], ends]).astype(np.int32)
