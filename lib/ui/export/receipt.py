"""The receipt: compares the figures of the Audience screen with those of the file, row by row and in total.

The screen may read a sample, the file every record. The file's figures come from `audience` with the largest
rows limit; where a question has more records than that reads, from a file of them, as tsv2. A service with
a layout of its own for files is asked for answers alone.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lib.figures.query import split_rows
from lib.figures.query.split_rows import SplitRows
from lib.reporting.answers import Audience, Values
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, ExportQuery
from lib.slicers.models import DataField, Slicer
from lib.ui.export import preview
from lib.ui.export.preview import Ask, Export, Preview
from lib.wire.filters import COMPARE, Filter

TOTAL = "Total"
SAME = 1e-9
Key = tuple[str, ...]
Exact = Mapping[Key, Values]


@dataclass(frozen=True)
class ReceiptLine:
    """One figure on the screen, with its 95 % range, and in the file. None: no value.

    `row` names the row that it is of; an estimate from too few records has no range. `is_left_out` says that
    the file's data filters leave the row out.
    """

    row: str
    field: DataField
    screen: float | None
    low: float | None
    high: float | None
    exact: float | None
    is_sampled: bool = False
    is_left_out: bool = False

    @property
    def difference(self) -> float | None:
        """In the file, less on the screen; None where either has no value, 0 where they are the same."""
        if self.screen is None or self.exact is None:
            return None
        is_same = math.isclose(self.screen, self.exact, rel_tol=SAME, abs_tol=SAME)
        return 0.0 if is_same else self.exact - self.screen

    @property
    def relative(self) -> float:
        """The difference as a share of the file's figure; infinite if that is zero or one is missing."""
        if self.difference is None:
            return 0.0 if self.screen is self.exact else math.inf
        if not self.difference:
            return 0.0
        return self.difference / abs(self.exact) if self.exact else math.inf

    @property
    def differs(self) -> bool:
        """Whether screen and file differ in a row that both contain."""
        return self.relative != 0 and not self.is_left_out

    @property
    def is_estimate(self) -> bool:
        """Whether the screen's figure is from a sample: with a range of some width, or without any."""
        return self.is_sampled if self.low is None or self.high is None else self.high > self.low


@dataclass(frozen=True)
class Receipt:
    """The lines: first the totals, then the rows on screen; a line per data field that both contain.

    `rows` is how many rows the screen shows. With `is_plain` the exact figures are those of all records, as
    far as the service reads them all for an answer: what its file has is its own affair.
    """

    lines: tuple[ReceiptLine, ...]
    rows: int
    is_plain: bool = False

    @property
    def differing(self) -> list[ReceiptLine]:
        """The lines that differ, the most first."""
        return sorted((line for line in self.lines if line.differs), key=lambda line: -abs(line.relative))


def receipt(ask: Ask, export: Export, question: AudienceQuery, file: Preview, slicer: Slicer) -> Receipt:
    """The receipt of a file; `question` is that of the split on Audience, `file` is the preview."""
    in_file = set(map(str, file.rows.values))
    names = tuple(name for name in question.data_fields or in_file if name in in_file)
    if not names:
        return Receipt((), 0, file.is_plain)
    screen = ask(question)
    filtering = tuple(data_filter.name for data_filter in file.query.data_filters)
    fields = tuple(dict.fromkeys((*names, *filtering)))
    whole = question.model_copy(update={"split_by": ()})
    exact_total, total = _exact(ask, export, whole, fields, file, slicer).get((), {}), screen.total
    lines, is_sampled = [], total.confidence_range is not None
    for name in names:
        parts = (total.values, total.low, total.high, exact_total)
        value, low, high, exact_value = (part.get(name) for part in parts)
        field = slicer.data_field(name)
        lines.append(ReceiptLine(TOTAL, field, value, low, high, exact_value, is_sampled))
    if question.split_by:
        # The question limited to the values of the rows on screen.
        values = {str(name): tuple(screen.names[name].unique()) for name in screen.names if len(screen)}
        filters = [Filter(name=name, value=texts, match="equals") for name, texts in values.items()]
        of_rows = question.model_copy(update={"filters": (*question.filters, *filters)})
        exact = _exact(ask, export, of_rows, fields, file, slicer)
        split = SplitRows(screen, None, slicer.data_field(names[0]), slicer)
        lines += _of_rows(split, names, exact, file.query)
    return Receipt(tuple(lines), len(screen) if question.split_by else 0, file.is_plain)


def _of_rows(split: SplitRows, names: Iterable[str], exact: Exact, query: ExportQuery) -> list[ReceiptLine]:
    answer, lines, is_sampled = split.answer, [], split.answer.confidence_range is not None
    keys = answer.names.itertuples(index=False, name=None)
    for row, (key, label) in enumerate(zip(keys, split_rows.row_labels(split), strict=True)):
        values = exact.get(tuple(map(str, key)), {})
        is_left_out = bool(values) and not all(
            (value := values.get(filter_.name)) is not None and COMPARE[filter_.match](value, filter_.value)
            for filter_ in query.data_filters
        )
        for name in names:
            value = _number(answer.values[name].iloc[row])
            low, high = (
                None if side is None or name not in side else _number(side[name].iloc[row])
                for side in (answer.low, answer.high)
            )
            field = split.slicer.data_field(name)
            exact_value = values.get(name)
            lines.append(ReceiptLine(label, field, value, low, high, exact_value, is_sampled, is_left_out))
    return lines


def _exact(
    ask: Ask, export: Export, question: AudienceQuery, names: tuple[str, ...], file: Preview, slicer: Slicer
) -> Exact:
    """The exact figures of all rows, by their names; empty if the service can't read all records."""
    every = {"data_fields": names, "order_by": (), "limit": None, "offset": 0, "precision": 0}
    every |= {"audience_rows_limit": ROWS_LIMITS[1], "include_mappings": 0}
    query = question.model_copy(update=every)
    answer = ask(query)
    if answer.confidence_range is None and answer.total.confidence_range is None:
        return _by_name(answer)
    if file.is_plain:
        return {}
    # The same from a file, which is never sampled.
    fields = query.model_dump(include={*ExportQuery.model_fields} & {*AudienceQuery.model_fields})
    file_query = ExportQuery.model_validate({**fields, "export_format": "tsv2", "include_mappings": 0})
    raw = preview.read(export, file_query, slicer)
    return _by_name(raw.first(raw.rows))


def _by_name(answer: Audience) -> Exact:
    keys = answer.names.itertuples(index=False, name=None) if answer.names.shape[1] else [()] * len(answer)
    rows = answer.values.to_dict("records")
    return {
        tuple(map(str, key)): {str(name): _number(value) for name, value in row.items()}
        for key, row in zip(keys, rows, strict=True)
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
