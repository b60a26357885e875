"""Counts as the reader writes numbers: `1,204`, `3 deals`."""

from lib.figures.numbers import Numbers
from lib.ui.kit import reader

PERIODS = {1: "days", 7: "weeks", 14: "fortnights"}


def numbers() -> Numbers:
    """How the reader writes numbers."""
    return Numbers.of(reader.locale())


def number(count: int) -> str:
    """A whole number."""
    return numbers().number(count)


def count_label(noun: str, count: int) -> str:
    """`3 deals`, `1 deal`."""
    return f"{number(count)} {noun.lower()}{'' if count == 1 else 's'}"


def track_record(hits: int, tests: int, days: int) -> str:
    """`in 27 of 30 past fortnights`: how often a range forecast then held, for periods alike."""
    return f"in {hits} of {tests} past {PERIODS.get(days, f'periods of {days} days')}"
