"""Marks targeted values that don't occur in the report, as the form does."""

from collections.abc import Sequence
from dataclasses import replace

from lib.ui.deals import catalogue
from lib.ui.deals.rows import DealRow
from lib.ui.deals.targeting import known, words
from lib.ui.kit.frame import PageContext


def rows(context: PageContext, some: Sequence[DealRow]) -> list[DealRow]:
    """The rows of a page with marks; without them if the report does not answer within a moment."""
    sold = [row.sold for row in some if row.sold is not None]
    marks = known.marks(context, catalogue.usual_days(context), sold) if sold else {}
    if not any(marks.values()):
        return [*some]
    return [
        row if row.sold is None else replace(row, targeting=words.sentence(row.sold, marks=marks))
        for row in some
    ]
