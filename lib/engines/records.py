"""Records of imported slicers, read from the files of the days that have any that count.

A day at a time: memory grows with the rows of a day. In the order of time no more days are read than are
needed.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.engines.plain_pandas import Rows
from lib.engines.sums import Question
from lib.slicers.dates import ONE_DAY
from lib.slicers.granularities import TIME_KEY_FIELDS, time_key_field
from lib.slicers.models import Order
from lib.slicers.warehouse import StoredSlicer
from lib.wire.deadline import Deadline


@dataclass(frozen=True)
class RecordsQuestion:
    """The first `limit` records, in this order, of those that count for `question`.

    `columns` are key fields (those of time too), data fields that are no formulas, and columns that the
    definition lists. Ties are ordered by the columns that have one value in a record.
    """

    question: Question
    columns: tuple[str, ...]
    order_by: tuple[Order, ...]
    limit: int

    @property
    def names(self) -> list[str]:
        """The columns, and those of the order, each once."""
        return list(dict.fromkeys([*self.columns, *(order.name for order in self.order_by)]))

    def orders(self, segmented: Iterable[str]) -> list[Order]:
        """The order, then that of ties; `segmented` are the columns with several values in a record."""
        others = {order.name for order in self.order_by}.union(segmented)
        ties = (Order(name=name, direction="asc") for name in self.columns if name not in others)
        return [*self.order_by, *ties]

    def read(self, slicer: StoredSlicer, days: Iterable[dt.date], deadline: Deadline) -> pd.DataFrame:
        """Of an imported slicer, a frame with the columns: texts, sorted lists of texts, or float64.

        `days` are those of the question's zone on which records count.
        """
        # files are of the slicer's zone
        nearby = {day + step * ONE_DAY for day in days for step in range(-2, 3)}
        order = self.order_by[0]
        is_by_time = order.name == time_key_field(slicer.definition.time.granularity)
        first = pd.DataFrame({name: [] for name in self.names})
        for day in sorted(nearby & set(slicer.rows), reverse=order.direction == "desc"):
            deadline.check()
            records = _of_day(slicer, self, day, deadline)
            first = records if first.empty else pd.concat([first, records])
            first = first.iloc[_order(first, slicer, self)[: self.limit]]
            if is_by_time and len(first) == self.limit:
                break
        return first[list(self.columns)].reset_index(drop=True)


def _of_day(slicer: StoredSlicer, request: RecordsQuestion, day: dt.date, deadline: Deadline) -> pd.DataFrame:
    definition = slicer.definition
    sources = {name: definition.stored_column(name) for name in request.names}
    numbers = {field.name for field in definition.data_fields if field.aggregate != "distinct"}
    rows = Rows(slicer, request.question, deadline, [day], [name for name in sources.values() if name])
    matches = rows.frame[rows.matching()]
    columns = {}
    for name, column in sources.items():
        if name in TIME_KEY_FIELDS:
            texts = TIME_KEY_FIELDS[name].write(rows.hours[matches.index].to_numpy())
            columns[name] = pd.Series(texts, index=matches.index, dtype="str")
        elif column is None:
            columns[name] = pd.Series(1.0, index=matches.index)
        elif name in rows.segmented:
            columns[name] = matches[column].map(_elements)
        elif name in numbers:
            columns[name] = matches[column].astype("float64")
        else:
            columns[name] = matches[column].astype("str").fillna("")
    return pd.DataFrame(columns, index=matches.index)


def _elements(cell: Iterable[str | None] | None) -> list[str]:
    return [] if cell is None else sorted({text for text in cell if text})


def _order(frame: pd.DataFrame, slicer: StoredSlicer, request: RecordsQuestion) -> npt.NDArray[np.intp]:
    """The places of the records in their order; missing numbers come last."""
    fields = slicer.definition.key_fields
    integers = {field.name for field in fields if field.type == "int"}
    keys = []
    for order in request.orders(field.name for field in fields if field.segmented):
        cells = frame[order.name]
        if order.name in integers:
            cells = pd.to_numeric(cells, errors="coerce")
        is_text = order.name not in integers and not pd.api.types.is_float_dtype(cells)
        ranks = pd.factorize(cells, sort=True)[0] if is_text else cells.to_numpy(np.float64)
        keys.append(ranks if order.direction == "asc" else -ranks)
    return np.lexsort(keys[::-1])
