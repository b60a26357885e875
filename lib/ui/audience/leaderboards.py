"""The leaderboards: a card per key field, with its top and chosen values, also on the days compared."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, DataField, Direction, Filter, Order
from lib.ui.audience import split_levels
from lib.ui.charts import numbers
from lib.ui.charts.change import Change
from lib.ui.charts.numbers import NOTHING
from lib.ui.kit import problems, rows
from lib.ui.kit.rows import Cell, Column, Row, Table
from lib.ui.query import ask, compared_answers, filters, focus, precision, split_rows, values
from lib.ui.query.card import FIELD_ORDER, Card
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.ui.query.periods import PREVIOUS, WEEKDAYS, YEAR
from lib.ui.query.split_rows import SplitRows
from lib.ui.query.state import ComparedColumn
from lib.ui.query.view_parts import line_colors
from lib.wire.errors import TrancheError

LIMIT, FAR_LIMIT = 8, 1000
OTHERS, ALL_OTHERS = "Others", "All others"
SHARE_RANK = 9  # the first to go where there is no room
AGAINST = {PREVIOUS: "vs prior", WEEKDAYS: "vs weeks", YEAR: "vs year"}
VAGUE = "Smaller than its uncertainty: it may not be a real rise or fall"


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard: its rows, the total for shares, and the number of values.

    Where `is_cut`, the order is that of the values with the largest volume only.
    """

    card: Card
    split: SplitRows
    whole: float | None
    count: int
    is_cut: bool = False


def tables(focus: Focus) -> list[Table]:
    """The tables. The rows of all cards are queried first, then their comparisons."""
    ask.prefetch(focus.context, [query for card in focus.cards for query in _first(focus, card)])
    answers, failures = {}, {}
    for card in focus.cards:
        try:
            answers[card] = fetch_rows(focus, card)
        except TrancheError as error:
            failures[card] = _failed_table(focus, card, problems.sentence(error))
    queries = [_query_of_rows(focus, card, answers[card]) for card in answers if not _is_ranked(focus, card)]
    ask.prefetch(
        focus.context, [focus.in_days(query, days) for query in queries for days in focus.other_days]
    )
    card_tables = {}
    for card, answer in answers.items():
        try:
            card_tables[card] = _table(focus, fetch_board(focus, card, answer))
        except TrancheError as error:
            failures[card] = _failed_table(focus, card, problems.sentence(error))
    return [card_tables.get(card) or failures[card] for card in focus.cards]


def _table(focus: Focus, board: Leaderboard) -> Table:
    """The card of a leaderboard: name with its share as a bar, value, share and change."""
    card = board.card
    field = focus.slicer.key_field(card.name)
    title = filters.field(card.name, focus.slicer)
    label = f"{title} by {numbers.title(focus.field)}"
    header = rows.CardHeader(title, _about(focus, board), card.find, _message(board, card))
    return Table(
        id=field.name,
        label=label,
        columns=_columns(focus, board),
        rows=[*_rows(focus, board), *_rest(focus, board)],
        verb="Keep",
        card=header,
        has_lines=focus.grain is not None,
        has_records=focus.slicer.knows("records"),
    )


def _failed_table(focus: Focus, card: Card, why: str) -> Table:
    title = filters.field(card.name, focus.slicer)
    return Table(card.name, title, [], [], card=rows.CardHeader(title, find=card.find, message=why))


def _columns(focus: Focus, board: Leaderboard) -> list[Column]:
    field, card = focus.field, board.card
    title = numbers.title(field, with_unit=True)
    columns = [
        Column("name", "Name", True, "asc", _direction(card, "name")),
        Column("value", title, False, "desc", _sorted_by_value(focus, card)),
    ]
    if board.split.has_share:
        about = "Of all values, whatever this card's filter"
        columns.append(Column("share", "Share, %", about=about, rank=SHARE_RANK))
    of = numbers.change_title if focus.view.changes == "percent" else numbers.amount_title
    for side in focus.comparisons:
        if side.comparison is None:
            continue
        title = of(field)
        if len(focus.comparisons) > 1:
            title = re.sub("change", AGAINST.get(side.view.compare[0], "vs own"), title, flags=re.IGNORECASE)
        about = f"Against {numbers.days(*side.comparison.before)}"
        if side is focus:
            columns.append(Column("change", title, False, "desc", _direction(card, "change"), about, rank=1))
        else:
            columns.append(Column("also", title, about=about, rank=2))
    if focus.comparison is not None:
        on_days = f"{numbers.title(field)}, {numbers.days(*focus.comparison.before)}"
        for name in _compared_columns(focus):
            columns.append(Column(name, numbers.compared_title(name, field), about=on_days, rank=3))
    for rank, column in enumerate(focus.columns, 4):
        by, title = FIELD_ORDER + column.name, numbers.title(column, with_unit=True)
        columns.append(Column(by, title, False, "desc", _direction(card, by), rank=rank))
    return columns


def _compared_columns(focus: Focus) -> list[ComparedColumn]:
    """The columns of the days compared; differences only where they are not the change's column already."""
    is_amount = focus.view.changes == "amount"
    return [name for name in focus.view.compared_columns if not (name == "amount" and is_amount)]


def _direction(card: Card, by: str) -> Direction | None:
    return card.direction if card.by == by else None


def _sorted_by_value(page_focus: Focus, card: Card) -> Direction | None:
    is_volume = (
        card.by == "volume" and focus.volume(page_focus.slicer, page_focus.field) == page_focus.field.name
    )
    return card.direction if is_volume or card.by == "value" else None


def _rows(focus: Focus, board: Leaderboard) -> list[Row]:
    split = board.split
    labels = split_rows.row_labels(split)
    changes = [split_rows.changes(rows) for rows in _with_changes(focus, split)]
    values = split.answer.values[focus.field.name].tolist()
    names = split.answer.names[board.card.name].tolist()
    more = [split.answer.values[column.name].tolist() for column in focus.columns]
    rows = zip(names, labels, values, split_rows.bars(split, board.whole), strict=True)
    return [
        _row(focus, board, *row, [column[index] for column in changes], [side[index] for side in more])
        for index, row in enumerate(rows)
    ]


def _with_changes(focus: Focus, split: SplitRows) -> list[SplitRows]:
    """The rows per comparison that has a column."""
    sides = zip(focus.comparisons, split.comparisons, strict=True)
    return [rows for side, rows in sides if side.comparison is not None]


def _row(
    focus: Focus,
    board: Leaderboard,
    code: str,
    label: str,
    value: float,
    bar: split_rows.Bar | None,
    changes: Sequence[Change],
    more: Sequence[float],
) -> Row:
    split, name = board.split, board.card.name
    cells = [Cell(label, bar=bar, about=filters.both(code, label)), _value(focus, focus.field, value)]
    if split.has_share:
        cells.append(Cell(focus.numbers.number(_share(board, value), 1)))
    cells += _changes(focus, changes)
    cells += [_value(focus, *figure) for figure in zip(focus.columns, more, strict=True)]
    return Row(
        cells,
        ((name, code),),
        included=(code in filters.values(focus.query, name, "equals"),),
        excluded=(code in filters.values(focus.query, name, "not equals"),),
        color=line_colors(focus.value_lines).get((name, code)),
    )


def _value(focus: Focus, field: DataField, value: float | None) -> Cell:
    if value is None:
        return Cell(NOTHING)
    return Cell(focus.numbers.brief(value, field), about=focus.numbers.full(value, field))


def _changes(focus: Focus, changes: Sequence[Change]) -> Iterator[Cell]:
    """The cells of a row's changes, one per comparison, then those of the days compared first."""
    yield from (_change(focus, change) for change in changes)
    for name in _compared_columns(focus) if focus.comparison is not None else ():
        if name == "previous":
            yield _value(focus, focus.field, changes[0].previous)
        else:
            amount = changes[0].amount
            text = NOTHING if amount is None else _change_text(focus, amount)
            yield Cell(text, is_faint=not changes[0].is_certain)


def _change(focus: Focus, change: Change) -> Cell:
    if change.amount is None:
        return Cell(NOTHING)
    percent = focus.numbers.change(change.ratio)
    amount = _change_text(focus, change.amount)
    before = f"Before: {focus.numbers.full(change.previous, focus.field)}"
    about = " · ".join([before, amount, percent, *([] if change.is_certain else [VAGUE])])
    text = percent.removesuffix(" %") if focus.view.changes == "percent" else amount
    return Cell(text, is_faint=not change.is_certain, about=about)


def _change_text(focus: Focus, amount: float) -> str:
    return numbers.plus(amount, focus.numbers.brief(amount, focus.field))


def _share(board: Leaderboard, value: float) -> float | None:
    return 100 * value / board.whole if board.whole else None


def _rest(focus: Focus, board: Leaderboard) -> Sequence[Row]:
    """Others: the total less the values shown, for fields whose values add up."""
    rest = None if board.card.find else split_rows.others(board.split)
    if rest is None:
        return []
    answer = board.split.answer
    label = precision.others(answer, focus.numbers, OTHERS, board.count - len(answer))
    cells = [
        Cell(ALL_OTHERS if board.split.is_chosen else label),
        _value(focus, focus.field, rest),
    ]
    if board.split.has_share:
        cells.append(Cell(focus.numbers.number(_share(board, rest), 1)))
    cells += _changes(focus, [split_rows.others_change(rows) for rows in _with_changes(focus, board.split)])
    for column in focus.columns:
        cells.append(_value(focus, column, split_rows.others(replace(board.split, field=column))))
    return [Row(cells, kind="rest")]


def _about(focus: Focus, board: Leaderboard) -> str:
    """The number of values and the precision of their figures, and a note if not all are sorted."""
    text = precision.sentence(board.split.answer, focus.field.name, focus.numbers)
    count = precision.count(board.split.answer, focus.numbers, board.count)
    parts = [f"top {focus.numbers.number(FAR_LIMIT)} of {count}" if board.is_cut else count]
    return " · ".join([*parts, *([] if text == precision.EXACT else [text])])


def _message(board: Leaderboard, card: Card) -> str:
    if len(board.split.answer):
        return ""
    if card.find:
        return f"No value contains “{card.find}”."
    return (
        "No value passes the metric filters."
        if board.split.is_chosen
        else "No data for these filters and days."
    )


def fetch_rows(focus: Focus, card: Card) -> Audience:
    """The leaderboard's rows on the question's days: the top ones, and those chosen."""
    answer = ask.estimate(focus.context, card_query(focus, card))
    if not _is_ranked(focus, card):
        answer = _containing(focus, card, answer, LIMIT)
    names = set(answer.names[card.name])
    missing = tuple(value for value in _chosen_values(focus, card.name) if value not in names)
    if not missing or _is_ranked(focus, card):
        return answer
    exact = Filter(name=card.name, value=missing, match="equals")
    only = (*filters.other_filters(focus.query, card.name), exact)
    more = card_query(focus, card).model_copy(update={"filters": only, "limit": None, "data_filters": ()})
    return split_levels.with_rows(answer, ask.estimate(focus.context, more))


def fetch_board(focus: Focus, card: Card, answer: Audience) -> Leaderboard:
    """The leaderboard of these rows, with the same rows on all days compared."""
    board = _compare(focus, card, answer)
    for other in focus.comparisons[1:]:
        rows_now = board.split.answer
        both = compared_answers.fetch(other, _query_of_rows(other, card, rows_now), rows_now)
        board = replace(board, split=replace(board.split, also=_split(other, rows_now, both, card)))
    return board


def _compare(focus: Focus, card: Card, answer: Audience) -> Leaderboard:
    """The leaderboard with the same rows on the days compared that come first."""
    query = _query_of_rows(focus, card, answer)
    if _is_ranked(focus, card):
        query = card_query(focus, card).model_copy(update={"data_filters": ()})
    both = compared_answers.fetch(focus, query, answer)
    count = answer.total.records_found
    if not _is_ranked(focus, card):
        return Leaderboard(card, _split(focus, answer, both, card), _whole(focus, card, answer), count)
    if both is not None:
        answer, both = _add_old_rows(focus, answer, both)
    answer = _containing(focus, card, answer, FAR_LIMIT)
    count = answer.total.records_found
    split = _split(focus, answer, both, card)
    audience = split_levels.take(answer, _visible_places(focus, card, split))
    now_split = _split(focus, audience, both, card)
    return Leaderboard(
        card, now_split, _whole(focus, card, answer), max(count, len(answer)), count > FAR_LIMIT
    )


def card_query(page_focus: Focus, card: Card) -> AudienceQuery:
    """The question about a key field, without its own filters, so that its other values stay visible."""
    field, volume = page_focus.field.name, focus.volume(page_focus.slicer, page_focus.field)
    is_far = _is_ranked(page_focus, card)
    columns = {FIELD_ORDER + column.name: column.name for column in page_focus.columns}
    by = {"name": card.name, "value": field, **columns}.get(card.by, volume)
    direction: Direction = "desc" if is_far or card.by == "change" else card.direction
    changes = {
        "split_by": (card.name,),
        "filters": (
            *filters.other_filters(page_focus.query, card.name),
            *values.searching(card.name, card.find),
        ),
        "data_fields": tuple(dict.fromkeys((field, volume, *columns.values()))),
        "order_by": (Order(name=volume if is_far else by, direction=direction),),
        "limit": FAR_LIMIT if is_far or _brings_others(page_focus, card) else LIMIT,
        "data_filters": page_focus.view.data_filters,
    }
    return page_focus.rows().model_copy(update=changes)


def _is_ranked(focus: Focus, card: Card) -> bool:
    """Whether the desk has to sort the values, as the service can't sort by change or description."""
    is_in_words = card.by == "name" and bool(focus.slicer.key_field(card.name).mapping)
    return is_in_words or (card.by == "change" and focus.comparison is not None)


def _chosen_values(focus: Focus, name: str) -> tuple[str, ...]:
    """The values of a key field that filters include or exclude, and those drawn as lines."""
    line_values = focus.value_lines[1:] if focus.value_lines[:1] == (name,) else ()
    return tuple(dict.fromkeys((*filters.values(focus.query, name), *line_values)))


def _first(focus: Focus, card: Card) -> Iterator[AudienceQuery]:
    query = card_query(focus, card)
    yield query
    others = filters.other_filters(focus.query, card.name)
    if others != focus.query.filters and focus.comparison is not None:
        whole = compared_answers.whole_query(focus, others)
        yield from (whole, *(focus.in_days(whole, days) for days in focus.other_days))
    if _is_ranked(focus, card):
        whole_query = query.model_copy(update={"data_filters": ()})
        yield from (focus.in_days(whole_query, days) for days in focus.other_days)


def _query_of_rows(focus: Focus, card: Card, answer: Audience) -> AudienceQuery:
    """The question about the rows shown, on other days."""
    query = card_query(focus, card)
    filter_ = Filter(name=card.name, value=tuple(answer.names[card.name]), match="equals")
    others = filters.other_filters(focus.query, card.name)
    changes = {
        "filters": (*others, filter_) if len(answer) else query.filters,
        "limit": None,
        "data_fields": (focus.field.name,),
        "order_by": (),
        "data_filters": (),
    }
    return query.model_copy(update=changes)


def _brings_others(focus: Focus, card: Card) -> bool:
    """Whether a search finds values without its text: those of records that have one with it too."""
    return bool(card.find and focus.slicer.key_field(card.name).is_segmented)


def _containing(focus: Focus, card: Card, answer: Audience, most: int) -> Audience:
    """The answer's first values that contain the search text."""
    if not _brings_others(focus, card):
        return answer
    names = values.matching(focus.context, answer, card.name, card.find)
    indices = [index for index, name in enumerate(answer.names[card.name]) if name in names]
    total = replace(answer.total, records_found=len(indices))
    return replace(split_levels.take(answer, indices[:most]), total=total)


def _whole(focus: Focus, card: Card, answer: Audience) -> float | None:
    """The total of all values, ignoring the search text."""
    if not card.find:
        return answer.total.values.get(focus.field.name)
    others = filters.other_filters(focus.query, card.name)
    changes = {"split_by": (), "filters": others, "data_fields": (focus.field.name,), "order_by": ()}
    total_query = focus.rows().model_copy(update={**changes, "limit": None})
    return ask.estimate(focus.context, total_query).total.values.get(focus.field.name)


def _split(focus: Focus, answer: Audience, both: ComparedAnswers | None, card: Card) -> SplitRows:
    has_rest = both is not None and not card.find and focus.field.name in answer.percents
    whole = (
        compared_answers.of_whole(focus, filters.other_filters(focus.query, card.name)) if has_rest else None
    )
    return SplitRows.of(focus, answer, both, whole, bool(focus.view.data_filters))


def _add_old_rows(focus: Focus, answer: Audience, both: ComparedAnswers) -> tuple[Audience, ComparedAnswers]:
    """The rows, with values added that occur on the earlier days only: their volume dropped to zero.

    Only for fields that add up, where both answers have every value, each exactly.
    """
    is_whole = not focus.view.data_filters and all(
        len(side) >= side.total.records_found and not side.is_sampled for side in (answer, both.before)
    )
    if focus.field.name not in answer.percents or not is_whole or both.now is not answer:
        return answer, both
    row_keys = set(map(tuple, answer.names.to_numpy()))
    indices = [index for index, row in enumerate(both.before.names.to_numpy()) if tuple(row) not in row_keys]
    old_rows = split_levels.without_volume(split_levels.take(both.before, indices))
    now = split_levels.with_rows(answer, old_rows)
    return now, ComparedAnswers(now, both.before, both.now_days, both.before_days)


def _visible_places(focus: Focus, card: Card, split: SplitRows) -> list[int]:
    """The places of the rows shown: the top ones, then other chosen ones."""
    order = _by_label(card, split) if card.by == "name" else _by_change(focus, card, split)
    first, choices = order[:LIMIT], set(_chosen_values(focus, card.name))
    names = split.answer.names[card.name].tolist()
    return [*first, *(index for index in order[LIMIT:] if names[index] in choices)]


def _by_label(card: Card, split: SplitRows) -> list[int]:
    labels = [label.casefold() for label in split_rows.row_labels(split)]
    return sorted(range(len(labels)), key=labels.__getitem__, reverse=card.direction == "desc")


def _by_change(focus: Focus, card: Card, split: SplitRows) -> list[int]:
    """Places sorted by change, with unknown changes last."""
    changes, is_amount = split_rows.changes(split), focus.view.changes == "amount"
    sizes = [change.amount if is_amount else change.ratio for change in changes]
    sign = -1 if card.direction == "desc" else 1
    return sorted(
        range(len(sizes)), key=lambda index: (sizes[index] is None, sign * (sizes[index] or 0.0), index)
    )
