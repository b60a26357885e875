"""The leaderboards: a card per key field, queried in parallel."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from lib.reporting.models import DataField, Direction
from lib.ui.audience import leaderboard_queries as queries
from lib.ui.audience.leaderboard_queries import Board
from lib.ui.charts import numbers
from lib.ui.charts.change import Change
from lib.ui.charts.numbers import LONGEST, NOTHING
from lib.ui.kit import problems, rows
from lib.ui.kit.rows import Cell, Column, Row, Table
from lib.ui.query import filters, focus, precision, split_rows, state, values
from lib.ui.query.focus import Focus
from lib.ui.query.periods import PREVIOUS, WEEKDAYS, YEAR
from lib.ui.query.split_rows import SplitRows
from lib.ui.query.state import Card
from lib.wire.errors import TrancheError

OTHERS, ALL_OTHERS = "Others", "All others"
SHARE_RANK = 9  # the first to go where there is no room
AGAINST = {PREVIOUS: "vs prior", WEEKDAYS: "vs weeks", YEAR: "vs year"}
VAGUE = "Smaller than its uncertainty: it may not be a real rise or fall"
Bar = tuple[float, float, float]


def table(focus: Focus, board: Board) -> Table:
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
    )


def failed_table(focus: Focus, card: Card, why: str) -> Table:
    """The card of a leaderboard that could not be loaded."""
    title = filters.field(card.name, focus.slicer)
    return Table(card.name, title, [], [], card=rows.CardHeader(title, find=card.find, message=why))


def _columns(focus: Focus, board: Board) -> list[Column]:
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
    for one in focus.comparisons:
        if one.comparison is None:
            continue
        title = of(field)
        if len(focus.comparisons) > 1:
            title = re.sub("change", AGAINST.get(one.view.compare[0], "vs own"), title, flags=re.IGNORECASE)
        about = f"Against {numbers.days(*one.comparison.before)}"
        if one is focus:
            columns.append(Column("change", title, False, "desc", _direction(card, "change"), about, rank=1))
        else:
            columns.append(Column("also", title, about=about, rank=2))
    for rank, column in enumerate(focus.columns, 3):
        by, title = state.FIELD_ORDER + column.name, numbers.title(column, with_unit=True)
        columns.append(Column(by, title, False, "desc", _direction(card, by), rank=rank))
    return columns


def _direction(card: Card, by: str) -> Direction | None:
    return card.direction if card.by == by else None


def _sorted_by_value(page_focus: Focus, card: Card) -> Direction | None:
    is_volume = (
        card.by == "volume" and focus.volume(page_focus.slicer, page_focus.field) == page_focus.field.name
    )
    return card.direction if is_volume or card.by == "value" else None


def _rows(focus: Focus, board: Board) -> list[Row]:
    split = board.split
    labels = split_rows.row_labels(split)
    changes = [split_rows.changes(one) for one in _with_changes(focus, split)]
    values = split.answer.values[focus.field.name].tolist()
    names = split.answer.names[board.card.name].tolist()
    more = [split.answer.values[column.name].tolist() for column in focus.columns]
    rows = zip(names, labels, values, _bars(board, values), strict=True)
    return [
        _row(focus, board, *row, [one[place] for one in changes], [side[place] for side in more])
        for place, row in enumerate(rows)
    ]


def _with_changes(focus: Focus, split: SplitRows) -> list[SplitRows]:
    """The rows per comparison that has a column."""
    sides = zip(focus.comparisons, split.comparisons, strict=True)
    return [rows for one, rows in sides if one.comparison is not None]


def _row(
    focus: Focus,
    board: Board,
    code: str,
    label: str,
    value: float,
    bar: Bar | None,
    changes: Sequence[Change],
    more: Sequence[float],
) -> Row:
    split, name = board.split, board.card.name
    cells = [Cell(label, bar=bar, about=filters.both(code, label)), _value(focus, focus.field, value)]
    if split.has_share:
        cells.append(Cell(focus.numbers.number(_share(board, value), 1)))
    cells += [_change(focus, change, value) for change in changes]
    cells += [_value(focus, *one) for one in zip(focus.columns, more, strict=True)]
    return Row(
        cells,
        ((name, code),),
        included=(_is_asked(focus, name, code, "equals"),),
        excluded=(_is_asked(focus, name, code, "not equals"),),
        color=state.line_colors(focus.value_lines).get((name, code)),
    )


def _value(focus: Focus, field: DataField, value: float | None) -> Cell:
    if value is None:
        return Cell(NOTHING)
    text = focus.numbers.plain(value, field)
    if math.isfinite(value) and abs(value) >= LONGEST:
        text = focus.numbers.rough(value)
    return Cell(text, about=focus.numbers.full(value, field))


def _change(focus: Focus, change: Change, value: float) -> Cell:
    if change.amount is None:
        return Cell(NOTHING)
    percent = focus.numbers.change(change.ratio)
    amount = _change_text(focus, change.amount)
    before = f"Before: {focus.numbers.full(value - change.amount, focus.field)}"
    about = " · ".join([before, amount, percent, *([] if change.is_certain else [VAGUE])])
    text = percent.removesuffix(" %") if focus.view.changes == "percent" else amount
    return Cell(text, is_faint=not change.is_certain, about=about)


def _change_text(focus: Focus, amount: float) -> str:
    text = focus.numbers.rough(amount) if abs(amount) >= LONGEST else focus.numbers.plain(amount, focus.field)
    return f"+{text}" if amount > 0 and text.strip("0.,") else text


def _share(board: Board, value: float) -> float | None:
    return 100 * value / board.whole if board.whole else None


def _bars(board: Board, values: Sequence[float]) -> list[Bar | None]:
    """Each value's share with the bounds of its range, from 0 to 1; a full bar is the total."""
    answer, name, whole = board.split.answer, board.split.field.name, board.whole
    if not board.split.is_additive or not whole or whole < 0:
        return [None] * len(values)
    low = high = values
    if answer.low is not None and answer.high is not None and name in answer.low:
        low, high = answer.low[name].tolist(), answer.high[name].tolist()
    return [_bar([side / whole for side in sides]) for sides in zip(values, low, high, strict=True)]


def _bar(shares: Sequence[float]) -> Bar | None:
    if not all(map(math.isfinite, shares)) or shares[0] < 0:
        return None
    length, low, high = (min(max(share, 0.0), 1.0) for share in shares)
    return length, low, high


def _rest(focus: Focus, board: Board) -> Sequence[Row]:
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
    sides = _with_changes(focus, board.split)
    cells += [_change(focus, split_rows.others_change(one), rest) for one in sides]
    for column in focus.columns:
        cells.append(_value(focus, column, split_rows.others(replace(board.split, field=column))))
    return [Row(cells, kind="rest")]


def _about(focus: Focus, board: Board) -> str:
    """The number of values and the precision of their figures, and a note if not all are sorted."""
    text = precision.sentence(board.split.answer, focus.field.name, focus.numbers)
    count = precision.count(board.split.answer, focus.numbers, board.count)
    parts = [f"top {focus.numbers.number(queries.FAR_LIMIT)} of {count}" if board.is_cut else count]
    return " · ".join([*parts, *([] if text == precision.EXACT else [text])])


def _message(board: Board, card: Card) -> str:
    if len(board.split.answer):
        return ""
    if card.find:
        return f"No value contains “{card.find}”."
    return (
        "No value passes the filters by figures."
        if board.split.is_chosen
        else "No data for these filters and days."
    )


def _is_asked(focus: Focus, name: str, code: str, match: str) -> bool:
    return any(f.name == name and f.match == match and code in f.value for f in focus.query.filters)


def tables(focus: Focus) -> list[Table]:
    """The tables. The rows of all cards are queried first, then their comparisons."""
    queries.begin(focus)
    answers, failures = {}, {}
    for card in focus.cards:
        try:
            answers[card] = queries.rows(focus, card)
        except TrancheError as error:
            failures[card] = failed_table(focus, card, problems.sentence(error))
    queries.begin_comparison(focus, list(answers.items()))
    card_tables = {}
    for card, answer in answers.items():
        try:
            card_tables[card] = table(focus, queries.board(focus, card, answer))
        except TrancheError as error:
            failures[card] = failed_table(focus, card, problems.sentence(error))
        values.remember(focus.context, answer)
    return [card_tables.get(card) or failures[card] for card in focus.cards]
