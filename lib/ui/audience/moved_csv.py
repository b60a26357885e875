"""The rows of "What moved" as CSV: every value shown, with its contribution and its own figures."""

from collections.abc import Sequence

from lib.reporting.moved.explain import Moved
from lib.reporting.moved.movers import Mover
from lib.reporting.moved.quantity import Own
from lib.ui.audience import moved_words
from lib.ui.charts import numbers
from lib.ui.question import answer_csv, filter_words
from lib.ui.question.focus import Focus
from lib.wire.spreadsheet import csv_text


def text(seen: Focus, found: Moved) -> str:
    """A row per value, with the total difference last. Numbers are not rounded."""
    contribution = "Own change" if isinstance(found.kind, Own) else "Contribution"
    unit = numbers.title(seen.field, with_unit=True)
    parts = ("Key field", "Value", "Description", contribution, "Rate", "Mix", "Before", "Now")
    rows: list[Sequence[object]] = [[label] for label in _labels(seen, found)]
    rows.append([*parts[:3], *(f"{unit}: {part}" for part in parts[3:])])
    for moves in found.shown:
        name = filter_words.field(moves.name, seen.slicer)
        rows += (_row(name, mover) for mover in moves.movers)
    whole = answer_csv.cells([found.difference, float("nan"), float("nan"), found.before, found.now])
    return csv_text([*rows, ["Total", "", "", *whole]])


def _row(name: str, mover: Mover) -> list[float | str]:
    figures = (mover.contribution, mover.rate, mover.mix, mover.before, mover.now)
    known = [float("nan") if figure is None else figure for figure in figures]
    return [name, mover.code, mover.words, *answer_csv.cells(known)]


def _labels(seen: Focus, found: Moved) -> list[str]:
    compared = numbers.days(*seen.comparison.before) if seen.comparison else ""
    return [
        f"Question: {answer_csv.question(seen, ())}, compared with {compared}",
        f"What moved: {' '.join([moved_words.whole(seen, found), *moved_words.alike(seen, found)])}",
        f"Precision: {moved_words.notes(seen, found)}",
    ]
