"""The queries of a leaderboard: its top and chosen values, the same on the days compared, the total."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, Direction, Filter, Order
from lib.ui.audience import split_levels
from lib.ui.charts.change import Change, is_sampled
from lib.ui.query import ask, compared_answers, focus, split_rows, state
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.ui.query.split_rows import SplitRows
from lib.ui.query.state import Card

LIMIT, FAR_LIMIT = 8, 1000
WHOLE = ("equals", "not equals")


@dataclass(frozen=True)
class Board:
    """A leaderboard: its rows, the total for shares, and the number of values.

    Where `is_cut`, the order is that of the values with the largest volume only.
    """

    card: Card
    split: SplitRows
    whole: float | None
    count: int
    is_cut: bool = False


def begin(focus: Focus) -> None:
    """Start the first queries of all leaderboards."""
    ask.prefetch(focus.context, [query for card in focus.cards for query in _first(focus, card)])


def begin_comparison(focus: Focus, answers: Sequence[tuple[Card, Audience]]) -> None:
    """Start the queries for the days compared that depend on the rows shown."""
    queries = [_query_of_rows(focus, card, answer) for card, answer in answers if not is_ranked(focus, card)]
    ask.prefetch(focus.context, [focus.in_days(one, days) for one in queries for days in focus.other_days])


def rows(focus: Focus, card: Card) -> Audience:
    """The leaderboard's rows on the question's days: the top ones, and those chosen."""
    answer = ask.estimate(focus.context, question(focus, card))
    names = set(answer.names[card.name])
    missing = tuple(value for value in chosen_values(focus, card.name) if value not in names)
    if not missing or is_ranked(focus, card):
        return answer
    exact = Filter(name=card.name, value=missing, match="equals")
    filters = (*others(focus.query, card.name), exact)
    more = question(focus, card).model_copy(update={"filters": filters, "limit": None, "data_filters": ()})
    return split_levels.with_rows(answer, ask.estimate(focus.context, more))


def board(focus: Focus, card: Card, answer: Audience) -> Board:
    """The leaderboard of these rows, with the same rows on all days compared."""
    board_rows = _compare(focus, card, answer)
    for other in focus.comparisons[1:]:
        rows = board_rows.split.answer
        both = compared_answers.fetch(other, _query_of_rows(other, card, rows), rows)
        board_rows = replace(
            board_rows, split=replace(board_rows.split, also=_split(other, rows, both, card))
        )
    return board_rows


def _compare(focus: Focus, card: Card, answer: Audience) -> Board:
    """The leaderboard with the same rows on the days compared that come first."""
    query = _query_of_rows(focus, card, answer)
    if is_ranked(focus, card):
        query = question(focus, card).model_copy(update={"data_filters": ()})
    both = compared_answers.fetch(focus, query, answer)
    count = answer.total.records_found
    if not is_ranked(focus, card):
        return Board(card, _split(focus, answer, both, card), _whole(focus, card, answer), count)
    if both is not None:
        answer, both = _add_old_rows(focus, answer, both)
    split = _split(focus, answer, both, card)
    audience = split_levels.take(answer, _visible_places(focus, card, split))
    now_split = _split(focus, audience, both, card)
    return Board(card, now_split, _whole(focus, card, answer), max(count, len(answer)), count > FAR_LIMIT)


def question(page_focus: Focus, card: Card) -> AudienceQuery:
    """The question about a key field, without its own filters, so that its other values stay visible."""
    field, volume = page_focus.field.name, focus.volume(page_focus.slicer, page_focus.field)
    is_far = is_ranked(page_focus, card)
    columns = {state.FIELD_ORDER + column.name: column.name for column in page_focus.columns}
    by = {"name": card.name, "value": field, **columns}.get(card.by, volume)
    direction: Direction = "desc" if is_far or card.by == "change" else card.direction
    changes = {
        "split_by": (card.name,),
        "filters": (*others(page_focus.query, card.name), *_found_by(card)),
        "data_fields": tuple(dict.fromkeys((field, volume, *columns.values()))),
        "order_by": (Order(name=volume if is_far else by, direction=direction),),
        "limit": FAR_LIMIT if is_far else LIMIT,
        "data_filters": page_focus.view.data_filters,
    }
    return page_focus.rows().model_copy(update=changes)


def is_ranked(focus: Focus, card: Card) -> bool:
    """Whether the desk has to sort the values, as the service can't sort by change or description."""
    is_in_words = card.by == "name" and bool(focus.slicer.key_field(card.name).mapping)
    return is_in_words or (card.by == "change" and focus.comparison is not None)


def others(query: AudienceQuery, name: str) -> tuple[Filter, ...]:
    """The filters, except those that include or exclude whole values of this key field."""
    return tuple(f for f in query.filters if f.name != name or f.match not in WHOLE)


def chosen_values(focus: Focus, name: str) -> tuple[str, ...]:
    """The values of a key field that filters include or exclude, and those drawn as lines."""
    filter_values = [f.value for f in focus.query.filters if f.name == name and f.match in WHOLE]
    line_values = focus.value_lines[1:] if focus.value_lines[:1] == (name,) else ()
    return tuple(dict.fromkeys(value for values in (*filter_values, line_values) for value in values))


def _first(focus: Focus, card: Card) -> Iterator[AudienceQuery]:
    card_query = question(focus, card)
    yield card_query
    if (filters := others(focus.query, card.name)) != focus.query.filters and focus.comparison is not None:
        whole = compared_answers.whole_query(focus, filters)
        yield from (whole, *(focus.in_days(whole, days) for days in focus.other_days))
    if is_ranked(focus, card):
        whole_query = card_query.model_copy(update={"data_filters": ()})
        yield from (focus.in_days(whole_query, days) for days in focus.other_days)


def _query_of_rows(focus: Focus, card: Card, answer: Audience) -> AudienceQuery:
    """The question about the rows shown, on other days."""
    card_query = question(focus, card)
    filter_ = Filter(name=card.name, value=tuple(answer.names[card.name]), match="equals")
    fields = (focus.field.name,)
    filters = (*others(focus.query, card.name), filter_) if len(answer) else card_query.filters
    changes = {"filters": filters, "limit": None, "data_fields": fields, "order_by": (), "data_filters": ()}
    return card_query.model_copy(update=changes)


def _found_by(card: Card) -> tuple[Filter, ...]:
    if not card.find:
        return ()
    text: dict[str, Any] = {"name": card.name, "value": (card.find,), "match": "contains"}
    return (Filter(**text, case_insensitive=1, search_mappings=1),)


def _whole(focus: Focus, card: Card, answer: Audience) -> float | None:
    """The total of all values, ignoring the search text."""
    if not card.find:
        return answer.total.values.get(focus.field.name)
    filters = others(focus.query, card.name)
    changes = {"split_by": (), "filters": filters, "data_fields": (focus.field.name,), "order_by": ()}
    total_query = focus.rows().model_copy(update={**changes, "limit": None})
    return ask.estimate(focus.context, total_query).total.values.get(focus.field.name)


def _split(focus: Focus, answer: Audience, both: ComparedAnswers | None, card: Card) -> SplitRows:
    has_rest = both is not None and not card.find and focus.field.name in answer.percents
    whole = compared_answers.of_whole(focus, others(focus.query, card.name)) if has_rest else None
    today = ask.today(focus.context, focus.query)
    is_chosen = bool(focus.view.data_filters)
    return SplitRows(answer, both, focus.field, focus.slicer, focus.period, today, whole, is_chosen)


def _add_old_rows(focus: Focus, answer: Audience, both: ComparedAnswers) -> tuple[Audience, ComparedAnswers]:
    """The rows, with values added that occur on the earlier days only: their volume dropped to zero.

    Only for fields that add up, where both answers have every value, each exactly.
    """
    is_whole = not focus.view.data_filters and all(
        len(one) >= one.total.records_found and not is_sampled(one) for one in (answer, both.before)
    )
    if focus.field.name not in answer.percents or not is_whole or both.now is not answer:
        return answer, both
    row_keys = set(map(tuple, answer.names.to_numpy()))
    places = [place for place, row in enumerate(both.before.names.to_numpy()) if tuple(row) not in row_keys]
    old_rows = split_levels.without_volume(split_levels.take(both.before, places))
    now = split_levels.with_rows(answer, old_rows)
    return now, ComparedAnswers(now, both.before, both.now_days, both.before_days)


def _visible_places(focus: Focus, card: Card, split: SplitRows) -> list[int]:
    """The places of the rows shown: the top ones, then other chosen ones."""
    order = _by_words(card, split) if card.by == "name" else _by_change(focus, card, split)
    first, choices = order[:LIMIT], set(chosen_values(focus, card.name))
    names = split.answer.names[card.name].tolist()
    return [*first, *(place for place in order[LIMIT:] if names[place] in choices)]


def _by_words(card: Card, split: SplitRows) -> list[int]:
    words = [label.casefold() for label in split_rows.row_labels(split)]
    return sorted(range(len(words)), key=lambda place: words[place], reverse=card.direction == "desc")


def _by_change(focus: Focus, card: Card, split: SplitRows) -> list[int]:
    """Places sorted by change, with unknown changes last."""
    sizes = [_size(focus, change) for change in split_rows.changes(split)]
    sign = -1 if card.direction == "desc" else 1
    return sorted(
        range(len(sizes)), key=lambda place: (sizes[place] is None, sign * (sizes[place] or 0.0), place)
    )


def _size(focus: Focus, change: Change) -> float | None:
    return change.amount if focus.view.changes == "amount" else change.ratio
