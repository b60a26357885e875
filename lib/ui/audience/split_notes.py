"""Notes on the rows of a split."""

from lib.reporting.models import TIME_KEY_FIELDS
from lib.ui.audience import split_queries
from lib.ui.frame.markdown import plain
from lib.ui.question import shortfalls, split_rows
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
    if chart == "heatmap" and len(seen.query.split_by) > 2:
        found.append("The heatmap shows the first two key fields.")
    if seen.view.chart == "lines" and chart != "lines":
        found.append("Lines need a key field other than time, in a slicer that has time.")
    if chart == "lines" and len(set(seen.query.split_by) - TIME_KEY_FIELDS.keys()) > 1:
        found.append("The lines show the first key field.")
    return found
