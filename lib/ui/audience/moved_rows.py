"""The values that moved as the component draws them."""

from lib.reporting.moved.explain import Moved
from lib.reporting.moved.movers import Mover, Moves
from lib.reporting.moved.quantity import Own
from lib.ui.audience import moved_words
from lib.ui.charts import numbers
from lib.ui.charts.numbers import NOTHING
from lib.ui.question import filter_words
from lib.ui.question.focus import Focus
from lib.ui.rows.rows import Cell, Column, Row, Table

OTHERS = "All others"
Bar = tuple[float, float, float]


def table(seen: Focus, found: Moved, moves: Moves) -> Table:
    """The movers of a key field: their contributions (for ratios by mix and rate), and their own figures."""
    title = filter_words.field(moves.name, seen.slicer)
    rest = [_rest(seen, found, moves)] if moves.adds_up else []
    label = f"What moved {numbers.title(seen.field)}, by {title}"
    shown = [_row(seen, found, moves, mover) for mover in moves.movers]
    return Table(f"moved {moves.name}", label, _columns(seen, found, moves, title), [*shown, *rest])


def _columns(seen: Focus, found: Moved, moves: Moves, title: str) -> list[Column]:
    own = isinstance(found.kind, Own)
    contribution = Column("contribution", "Own change" if own else "Contribution", about=_unit(seen))
    parts = [Column("rate", "Rate"), Column("mix", "Mix")] if moves.movers[0].mix is not None else []
    return [
        Column("value", title, is_key=True),
        contribution,
        *parts,
        Column("before", "Before"),
        Column("now", "Now"),
    ]


def _unit(seen: Focus) -> str:
    return f"In the unit of {numbers.title(seen.field, with_unit=True)}"


def _row(seen: Focus, found: Moved, moves: Moves, mover: Mover) -> Row:
    parts = [] if mover.mix is None else [_moved(seen, mover.rate), _moved(seen, mover.mix)]
    sides = [Cell(seen.numbers.full(value, seen.field)) for value in (mover.before, mover.now)]
    label = Cell(moved_words.name(mover), about=filter_words.both(mover.code, mover.words))
    cells = [label, _moved(seen, mover.contribution, _bar(found, mover)), *parts, *sides]
    return Row(cells, ((moves.name, mover.code),), (_is_asked(seen, moves.name, mover.code),))


def _rest(seen: Focus, found: Moved, moves: Moves) -> Row:
    """The contribution of all values that are not shown."""
    whole = found.difference - sum(mover.contribution for mover in moves.movers)
    has_parts = moves.movers[0].mix is not None
    empty = [Cell(NOTHING)] * (4 if has_parts else 2)
    return Row([Cell(OTHERS), _moved(seen, whole), *empty], kind="rest")


def _moved(seen: Focus, value: float | None, bar: Bar | None = None) -> Cell:
    return Cell(NOTHING if value is None else moved_words.signed(seen, value), bar=bar, has_sides=True)


def _bar(found: Moved, mover: Mover) -> Bar | None:
    """The bar of a contribution, from the middle of its cell: to the left of it where negative.

    All key fields have one scale: half a cell is the largest contribution of all.
    """
    if not found.scale:
        return None
    share = mover.contribution / found.scale
    return share, share, share


def _is_asked(seen: Focus, name: str, code: str) -> bool:
    return any(f.name == name and f.match == "equals" and code in f.value for f in seen.query.filters)
