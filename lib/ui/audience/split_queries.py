"""The queries of a split: its rows, the same rows on the days compared, a grid of two fields, the overlap."""

from collections.abc import Sequence

from lib.reporting.answers import Audience
from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, Filter, Order
from lib.ui.query import ask, compared_answers, focus
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus

ACROSS, DOWN = 14, 20


def both_sides(focus: Focus, answer: Audience) -> ComparedAnswers | None:
    """The answer's rows on the days compared; None for splits over time, whose values differ."""
    is_over_time = not TIME_KEY_FIELDS.keys().isdisjoint(focus.query.split_by)
    if focus.comparison is None or not len(answer) or is_over_time:
        return None
    rows_query = focus.rows()
    row_filters = [_only(str(name), answer.names[name].unique().tolist()) for name in answer.names]
    narrow = {
        "filters": (*rows_query.filters, *row_filters),
        "limit": None,
        "data_fields": (focus.field.name,),
    }
    return compared_answers.fetch_compared(focus, rows_query.model_copy(update=narrow), answer)


def grid(page_focus: Focus) -> Audience:
    """The first two key fields of the split against each other, the top values of each."""
    down, across = page_focus.query.split_by[:2]
    top = [_only(name, answer.names[name].tolist()) for name, _, answer in cuts(page_focus)]
    filters = (*page_focus.query.filters, *top)
    fields = tuple(dict.fromkeys((page_focus.field.name, focus.volume(page_focus.slicer, page_focus.field))))
    changes = {"split_by": (down, across), "filters": filters, "limit": None, "data_fields": fields}
    return ask.quickly(page_focus.context, page_focus.rows().model_copy(update={**changes, "order_by": ()}))


def cuts(focus: Focus) -> list[tuple[str, int, Audience]]:
    """Per key field of the grid, but for time: how many values it shows, and an answer that counts all."""
    sides = zip(focus.query.split_by[:2], (DOWN, ACROSS), strict=True)
    return [(name, count, _top(focus, name, count)) for name, count in sides if name not in TIME_KEY_FIELDS]


def overlap(page_focus: Focus, segmented: str) -> float | None:
    """How many values of a segmented key field a record has, weighted by the first plain data field.

    The sum of all values' shares over 100; None where nothing adds up.
    """
    volume = focus.volume(page_focus.slicer, page_focus.field)
    plain = {
        "split_by": (segmented,),
        "data_fields": (volume,),
        "order_by": (),
        "limit": None,
        "precision": 0,
    }
    answer = ask.quickly(page_focus.context, page_focus.rows().model_copy(update=plain))
    if volume not in answer.percents:
        return None
    return float(answer.percents[volume].sum()) / 100


def _top(page_focus: Focus, name: str, count: int) -> Audience:
    """A key field's top values."""
    volume = focus.volume(page_focus.slicer, page_focus.field)
    changes = {
        "split_by": (name,),
        "limit": count,
        "data_fields": (volume,),
        "order_by": (Order(name=volume),),
    }
    query: AudienceQuery = page_focus.rows().model_copy(update=changes)
    return ask.quickly(page_focus.context, query)


def _only(name: str, values: Sequence[str]) -> Filter:
    return Filter(name=name, value=tuple(values), match="equals")
