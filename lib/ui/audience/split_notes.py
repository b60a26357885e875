"""Notes on the rows of a split."""

from collections.abc import Sequence

from lib.reporting.models import TIME_KEY_FIELDS
from lib.ui.audience import split_queries
from lib.ui.frame.markdown import plain
from lib.ui.question import filter_words, precision, shortfalls, split_rows
from lib.ui.question.focus import Focus
from lib.ui.question.split_rows import SplitRows
from lib.ui.question.view import Chart


def notes(seen: Focus, split: SplitRows, chart: Chart) -> list[str]:
    """The notes on these rows, a sentence each."""
    found = []
    for name in split.segmented:
        count = split_queries.overlap(seen, name)
        if count is not None:
            field = seen.slicer.key_field(name).description or name
            found.append(
                f"{plain(field)}: {seen.numbers.number(count, 1)} values per record: shares exceed 100 %."
            )
    found += split_rows.doubts(split, seen.numbers)
    if chart == "heatmap" and split_rows.few(split).any():
        found.append(
            f"Hatched: fewer than {split_rows.FEW} records; the colour scale leaves these cells out."
        )
    found += map(plain, shortfalls.codes(seen.slicer, split.keys))
    if seen.view.chart == "heatmap" and len(split.keys) < 2:
        found.append("A heatmap needs two key fields: add one to the split.")
    if chart == "heatmap":
        found += [*_fields_left_out(seen, split.keys), *_values_left_out(seen)]
    if seen.view.chart == "lines" and chart != "lines":
        found.append("Lines need a key field other than time, in a slicer that has time.")
    if chart == "lines":
        found += _fields_left_out(seen, split.keys)
    return found


def _fields_left_out(seen: Focus, keys: Sequence[str]) -> list[str]:
    """Which key fields of the split a chart shows, where these are not all that it could show."""
    drawn = {*keys, *(TIME_KEY_FIELDS if seen.view.chart == "lines" else ())}
    left_out = [filter_words.field(name, seen.slicer) for name in seen.query.split_by if name not in drawn]
    if not left_out:
        return []
    shown = " and ".join(filter_words.field(name, seen.slicer) for name in keys)
    return [plain(f"Shown: {shown} alone, without {', '.join(left_out)}.")]


def _values_left_out(seen: Focus) -> list[str]:
    """How many of all values of its key fields a heatmap shows, where these are not all."""
    return [
        plain(
            f"{filter_words.field(name, seen.slicer)}: the {seen.numbers.number(shown)} largest of "
            f"{precision.count(answer, seen.numbers)} values."
        )
        for name, shown, answer in split_queries.cuts(seen)
        if answer.total.records_found > shown
    ]
