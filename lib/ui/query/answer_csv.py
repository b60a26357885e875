"""Writes an answer as CSV, with the question and its precision in the lines above the rows.

Values are raw and whole: codes beside their descriptions, numbers with all their digits, the ends of 95 %
ranges where they are estimates.
"""

import math
from collections.abc import Iterator, Sequence

from lib.reporting.answers import Audience
from lib.reporting.confidence import LEVEL
from lib.reporting.models import DataField, Slicer
from lib.ui.charts import numbers
from lib.ui.query import filter_words
from lib.ui.query.focus import Focus
from lib.wire.spreadsheet import csv_text


def text(answer: Audience, fields: Sequence[DataField], slicer: Slicer, labels: Sequence[str]) -> str:
    """The CSV text: the lines `labels`, the rows with these data fields, then their total."""
    columns = [*_keys(answer, slicer), *_figures(answer, fields)]
    rows: list[Sequence[object]] = [*([label] for label in labels), [title for title, _ in columns]]
    rows += zip(*(values for _, values in columns), strict=True)
    whole = [answer.total.values.get(field.name) for field in fields]
    total = cells([math.nan if value is None else value for value in whole])
    width = sum(len(_sides(answer, field.name)) + 1 for field in fields)
    if len(answer.names.columns) and width == len(fields):
        rows.append(["Total", *[""] * (len(columns) - width - 1), *total])
    return csv_text(rows)


def question(focus: Focus, split_by: Sequence[str]) -> str:
    """The question in words: days, split and filters."""
    fields = ", ".join(filter_words.field(name, focus.slicer) for name in split_by)
    filters = [filter_words.sentence(f, focus.slicer, listed=len(f.value)) for f in focus.query.filters]
    asked = f"{focus.query.project_name}/{focus.query.slicer_name}, {numbers.days(*focus.period)}"
    return "; ".join([f"{asked}, by {fields}" if fields else asked, *filters])


def _keys(answer: Audience, slicer: Slicer) -> Iterator[tuple[str, list[str]]]:
    for name in map(str, answer.names):
        field = slicer.key_field(name)
        title = field.description or name
        yield title, answer.names[name].astype(str).tolist()
        if field.mapping and answer.descriptions is not None:
            yield f"{title}, description", answer.descriptions[name].astype(str).tolist()


def _figures(answer: Audience, fields: Sequence[DataField]) -> Iterator[tuple[str, list[float | str]]]:
    for field in fields:
        title = numbers.title(field, with_unit=True)
        yield title, cells(answer.values[field.name].tolist())
        for side, values in _sides(answer, field.name):
            yield f"{title}, {side} end ({LEVEL})", cells(values)


def _sides(answer: Audience, name: str) -> list[tuple[str, list[float]]]:
    """The lower and upper bounds of the ranges; empty if every range has no width."""
    if answer.low is None or answer.high is None or name not in answer.low:
        return []
    if not (answer.high[name] > answer.low[name]).any():
        return []
    return [("lower", answer.low[name].tolist()), ("upper", answer.high[name].tolist())]


def cells(values: Sequence[float]) -> list[float | str]:
    """Numbers; whole ones without decimals, missing ones empty."""
    return ["" if math.isnan(v) else int(v) if float(v).is_integer() else v for v in values]
