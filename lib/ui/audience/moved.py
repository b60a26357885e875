"""The block "What moved": the values of key fields that explain the difference between two periods."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.reporting.moved.explain import Moved
from lib.reporting.moved.movers import Mover, Moves
from lib.reporting.moved.quantity import Own
from lib.ui.audience import moved_csv, moved_found, moved_words
from lib.ui.charts import numbers
from lib.ui.charts.numbers import NOTHING
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import drill, export_menu, filter_words, focus, question
from lib.ui.question.focus import Focus
from lib.ui.rows import rows
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


BLOCK, HEIGHT = "moved", 320


@st.fragment(parallel=True)
def draw(here: Here) -> None:
    """Draw the block if it is open; only then its many queries are sent."""
    drill.catch_up(here)
    if not here.slicer.data_fields or not question.view(here).moved:
        return
    seen = focus.of(here)
    with st.container(key=BLOCK, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader("What moved", anchor=False)
            st.space("stretch")
            taken = st.container(width="content")
        if seen.comparison is None:
            st.caption("No days are compared: choose some beside the dates.")
            return
        with problems.reported("What moved"):
            _draw(seen, taken)


def _draw(seen: Focus, taken: DeltaGenerator) -> None:
    """Draw a sentence on the total, then a sentence and a table per key field."""
    with st.skeleton(height=HEIGHT):
        found = moved_found.found(seen)
    st.markdown(plain(moved_words.whole(seen, found)))
    if sentences := moved_words.sentences(seen, found):
        st.markdown("\n".join(f"- {plain(one)}" for one in sentences))
    if found.shown:
        with taken:
            _export(seen, found)
        tables = [table(seen, found, moves) for moves in found.shown]
        rows.draw(drill.MOVED, tables, question.taken(drill.MOVED), partial(drill.follow, seen.here))
    st.caption(plain(moved_words.notes(seen, found)))


def _export(seen: Focus, found: Moved) -> None:
    """Draw the values as a download, and a link to Export."""
    menu = export_menu.opened(BLOCK)
    if menu is not None:
        with menu:
            text = partial(moved_csv.text, seen, found)
            export_menu.download(seen, BLOCK, text, "Download these values as CSV")
            export_menu.way_on()
