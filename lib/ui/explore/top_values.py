"""The top values of one key field by one data field: the question, and the table of its answer."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from lib.figures.numbers import NOT_SET, NOTHING, Numbers
from lib.figures.query import focus, split_rows
from lib.figures.query.precision import half_range
from lib.reporting.answers import Audience
from lib.reporting.models import ROWS_LIMITS, AudienceQuery
from lib.slicers.models import DataField, KeyField, Order, Slicer

Ask = Callable[[AudienceQuery], Audience]
MOST = 12


@dataclass(frozen=True)
class TopValues:
    """The answer, the data field, the field that measures volume, and the number of values.

    `by` is the order of the rows, by the volume unless somebody wants another. `count` is what was found in
    the records read: where `is_counted` is false there may be more.
    """

    key_field: KeyField
    data_field: DataField
    order: DataField
    by: Order
    answer: Audience
    count: int
    is_counted: bool

    @property
    def values(self) -> list[str]:
        """The values as filters take them, in the order of the rows."""
        return list(self.answer.names[self.key_field.name])

    @property
    def columns(self) -> list[DataField]:
        """The data fields of the table: the one chosen, and the one that sorts if that differs."""
        return list(dict.fromkeys((self.data_field, self.order)))


def top_values(
    ask: Ask,
    question: AudienceQuery,
    slicer: Slicer,
    key_field: str,
    data_field: str,
    by: Order | None = None,
) -> TopValues:
    """The top values in the days of `question`, in the order `by`.

    A formula's rows are ordered by volume: the largest ratios are those of the smallest rows. Values are
    counted in all records, but not where the service would send every one of them for it.
    """
    key, data = slicer.key_field(key_field), slicer.data_field(data_field)
    order = slicer.data_field(focus.volume(slicer, data))
    by = by if by is not None and by.name in (key.name, data.name, order.name) else Order(name=order.name)
    fields = tuple(dict.fromkeys((data.name, order.name)))
    rows = {"split_by": (key.name,), "data_fields": fields, "order_by": (by,), "limit": MOST}
    query = question.model_copy(update=rows | {"include_mappings": 1, "precision": 1})
    answer = ask(query)
    if answer.confidence_range is None or not slicer.knows("limit"):
        is_counted = answer.confidence_range is None
        return TopValues(key, data, order, by, answer, answer.total.records_found, is_counted)
    all_rows = {"limit": 0, "precision": 0, "include_mappings": 0, "audience_rows_limit": ROWS_LIMITS[1]}
    all_values = ask(query.model_copy(update=all_rows))
    count, is_counted = all_values.total.records_found, all_values.total.confidence_range is None
    return TopValues(key, data, order, by, answer, count, is_counted)


def has_share(top: TopValues, field: DataField) -> bool:
    """Whether the field's values add up to a total, and its shares are shown (info, show_percents)."""
    is_sorted_by = field.name == top.by.name
    return field.name in top.answer.percents and field.show_percents >= (1 if is_sorted_by else 2)


def frame(top: TopValues) -> pd.DataFrame:
    """A row per value: `value` in words, `id` where a mapping describes it; per data field a column of its
    name, its `share:…` in percent, and `off:…`, how far off it may be in percent, where records were sampled.
    """
    answer = top.answer
    descriptions = answer.descriptions
    texts = top.values if descriptions is None else descriptions[top.key_field.name]
    columns: dict[str, object] = {"value": [text or NOT_SET for text in texts]}
    if descriptions is not None and top.key_field.mapping:
        columns["id"] = [value or NOTHING for value in top.values]
    for field in top.columns:
        columns[field.name] = pd.Series(split_rows.amounts(answer, field.name), dtype=object)
        if has_share(top, field):
            columns[f"share:{field.name}"] = answer.percents[field.name]
        if answer.confidence_range is not None and answer.low is not None and answer.high is not None:
            sides = (side[field.name] for side in (answer.low, answer.high, answer.values))
            columns[f"off:{field.name}"] = [half_range(*side) for side in zip(*sides, strict=True)]
    return pd.DataFrame(columns)


def count_label(top: TopValues, numbers: Numbers) -> str:
    """`1,163 values, the top 15`: the number of values, and of those shown."""
    number = ("" if top.is_counted else "At least ") + numbers.number(top.count)
    rest = f", the top {len(top.values)}" if len(top.values) < top.count else ""
    return f"{number} value{'' if top.count == 1 else 's'}{rest}"
