"""What sizes are measured by (sampling.py): per day its records and Σ|y| of its additive data fields."""

from collections.abc import Mapping

import ibis
import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.reporting.definition import Definition
from lib.reporting.engines.connected.columns import DAY_HOURS, Columns
from lib.reporting.engines.resident import sampling

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Scale:
    """The sizes of days, and what a record's size in its day is measured by."""

    def __init__(self, definition: Definition, found: pa.Table) -> None:
        """`found` are the rows of `statement`. A day that is not among them has size 1."""
        self._names = additive(definition)
        order = np.argsort(np.asarray(found["day"], np.int64), kind="stable")
        self._days = np.asarray(found["day"], np.int64)[order]
        records = np.asarray(found["records"], np.int64)[order]
        sums = [np.asarray(found[f"s{place}"], np.float64)[order] for place in range(len(self._names))]
        volume = [
            dict(zip(self._names, day, strict=True))
            for day in np.array(sums).reshape(len(sums), -1).T.tolist()
        ] or [{} for _ in records]
        self._sizes = np.array(sampling.sizes_of_days(volume, records.tolist()))
        self._means = [total / records for total in sums]

    def shares(self, columns: Mapping[str, Floats], days: Ints) -> npt.NDArray[np.float32]:
        """The size of each record in its day: the mean of 1 and of |y| / mean|y|, as `sizes_in_day`."""
        place, is_known = self._places(days)
        total, known = np.ones(len(days)), np.ones(len(days))
        for name, means in zip(self._names, self._means, strict=True):
            mean = np.where(is_known, means[place], 0.0) if len(means) else np.zeros(len(days))
            counts = mean > 0
            absolute = np.abs(np.nan_to_num(columns[name]))
            total += np.divide(absolute, mean, out=np.zeros(len(days)), where=counts)
            known += counts
        return (total / known).astype(np.float32)

    def of_days(self, days: Ints) -> Floats:
        """The size of each record's day."""
        place, is_known = self._places(days)
        return np.where(is_known, self._sizes[place], 1.0) if len(self._sizes) else np.ones(len(days))

    def _places(self, days: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        if not len(self._days):
            return np.zeros(len(days), np.int64), np.zeros(len(days), bool)
        place = np.searchsorted(self._days, days).clip(0, len(self._days) - 1)
        return place, self._days[place] == days


def additive(definition: Definition) -> list[str]:
    """The data fields that sizes are measured by."""
    return [field.name for field in definition.data_fields if field.source and field.is_additive]


def statement(columns: Columns) -> ir.Table:
    """Records and Σ|y| of each additive data field, by day in the slicer's zone."""
    definition, names = columns.definition, additive(columns.definition)
    shift = definition.timezone if definition.time.granularity == "hour" else 0
    cells = {f"v{place}": columns.number(name) for place, name in enumerate(names)}
    table = columns.table.select(day=(columns.hour() + shift) // DAY_HOURS, **cells)
    sums = {f"s{place}": table[f"v{place}"].abs().sum().fill_null(0.0) for place in range(len(names))}
    found = table.filter(ibis._.day.notnull()).group_by("day")
    return found.aggregate(records=lambda kept: kept.count(), **sums)
