"""What a reader has to know about the rows of a split."""

from lib.ui.audience import split_queries
from lib.ui.frame.markdown import plain
from lib.ui.question import shortfalls, split_rows
from lib.ui.question.focus import Focus
from lib.ui.question.split_rows import Split
from lib.ui.question.view import Chart


def notes(seen: Focus, split: Split, chart: Chart) -> list[str]:
    """What a reader has to know about these rows."""
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
        found.append(f"Hatched: fewer than {split_rows.FEW} records; the colours leave these cells out.")
    found += map(plain, shortfalls.codes(seen.slicer, split.keys))
    if seen.view.chart == "heatmap" and len(split.keys) < 2:
        found.append("A heatmap takes two key fields: add one to the split.")
    if chart == "heatmap" and len(seen.query.split_by) > 2:
        found.append("The heatmap shows the first two key fields.")
    return found
