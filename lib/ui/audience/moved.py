"""The block "What moved": what explains the difference between two periods, as rows, text and CSV."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.reporting.models import TIME_KEY_FIELDS
from lib.reporting.moved import explain
from lib.reporting.moved.explain import MOST_FIELDS, Moved
from lib.reporting.moved.movers import Mover, Moves, Together
from lib.reporting.moved.quantity import Formula, Own, Ratio
from lib.ui.charts import numbers
from lib.ui.charts.numbers import NOT_SET, NOTHING
from lib.ui.kit import problems, rows, session_cache
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.rows import Cell, Column, Row, Table
from lib.ui.kit.session_cache import SessionCache
from lib.ui.query import ask, drill, export_menu, filter_words, focus, question
from lib.ui.query.focus import Focus
from lib.wire.text import csv_text

NAMED = 2


def total_sentence(focus: Focus, found: Moved) -> str:
    """The change of the total, and what was found."""
    if focus.comparison is None:
        return ""
    now, before = (numbers.days(*days) for days in focus.comparison)
    title = numbers.title(focus.field)
    relative = focus.numbers.change(found.difference / abs(found.before) if found.before else None)
    total = f"{title} {change_text(focus, found.difference)} ({relative}), {now} against {before}."
    if found.moves or found.alike:
        return total
    considered = f"{focus.numbers.number(found.considered)} values of its key fields"
    return f"{total} Nothing stands out: none of {considered} moved more than noise."


def mover_sentences(focus: Focus, found: Moved) -> list[str]:
    """A sentence per key field that is shown, and one on those of which all values changed alike."""
    shown = [_sentence(focus, found, moves) for moves in found.shown]
    return [*shown, *alike(focus, found)]


def _sentence(focus: Focus, found: Moved, moves: Moves) -> str:
    """The first values of a key field's table, and what all of its rows contribute together."""
    named = ", ".join(mover_name(mover) for mover in moves.movers[:NAMED])
    more = len(moves.movers) - NAMED
    first = (
        f"{filter_words.field(moves.name, focus.slicer)}: {named}{f' and {more} more' if more > 0 else ''}"
    )
    together = moves.together
    if isinstance(found.kind, Own) or moves.is_overlapping:
        is_one = len(moves.movers) == 1
        return f"{first}, {change_text(focus, together.contribution)}" if is_one else first
    share = "" if together.share is None else f" ({focus.numbers.percent(100 * together.share, 0)})"
    part = f"{change_text(focus, together.contribution)} of {change_text(focus, found.difference)}"
    return f"{first}, {part}{share}{_parts(focus, together)}"


def alike(focus: Focus, found: Moved) -> list[str]:
    """A sentence that in some key fields all values changed alike, which names none of them; or nothing."""
    ranges = [moves.alike for moves in found.alike if moves.alike is not None]
    if not ranges:
        return []
    names = ", ".join(filter_words.field(moves.name, focus.slicer) for moves in found.alike)
    ends = (min(low for low, _ in ranges), max(high for _, high in ranges))
    verb = "rose" if found.difference > 0 else "fell"
    return [f"{names}: all {verb} alike ({' to '.join(dict.fromkeys(map(focus.numbers.change, ends)))})"]


def notes(focus: Focus, found: Moved) -> str:
    """Notes on the computation that a reader needs."""
    sentences = [_held_against(found)]
    if isinstance(found.kind, Ratio):
        sentences.append("Mix: the value's share changed; rate: its own figure did; they add up.")
    if isinstance(found.kind, Formula):
        sentences.append("A value contributes what leaving it out would change; these do not add up.")
    if isinstance(found.kind, Own):
        sentences.append(f"{numbers.title(focus.field)} do not add up: each value's own change is shown.")
    if any(moves.is_overlapping for moves in found.moves):
        sentences.append("Fields with several values per record come last: their values overlap.")
    if len(focus.slicer.key_fields) > MOST_FIELDS:
        sentences.append(f"Only the first {MOST_FIELDS} key fields were analysed.")
    return " ".join(sentences)


def change_text(focus: Focus, value: float) -> str:
    """A signed difference in the field's unit; for percentages, in points."""
    return focus.numbers.signed(value, focus.field)


def mover_name(mover: Mover) -> str:
    """The label of a value."""
    return mover.words or mover.code or NOT_SET


def _parts(focus: Focus, together: Together) -> str:
    """The contributions of the rows by rate and mix."""
    if together.rate is None or together.mix is None:
        return ""
    return f": rate {change_text(focus, together.rate)}, mix {change_text(focus, together.mix)}"


def _held_against(found: Moved) -> str:
    if isinstance(found.kind, Own) or not found.weeks:
        return (
            "Not compared with usual movement: there is no data for earlier periods like these. "
            "Changes smaller than the sample's uncertainty are left out."
        )
    earlier = "the same difference once before" if found.weeks == 1 else f"{found.weeks} earlier ones like it"
    return f"Compared with {earlier}: values that usually move as much are left out."


FOUND, MOST, AT_ONCE = "moved_found", 4, 6


def find_movers(focus: Focus) -> Moved:
    """The values that moved the field shown between the two periods. Raises the service's errors.

    Who comes while it is computed waits for it: a run that a newer one has overtaken asks nothing twice.
    """
    cache: SessionCache[Moved] = session_cache.of(FOUND, partial(SessionCache, ask.SECONDS, MOST))
    key = (focus.context.person.username, focus.query, focus.comparison, focus.field.name)
    return cache.get(key, partial(_compute, focus))


def _compute(focus: Focus) -> Moved:
    if focus.comparison is None:
        raise ValueError("no days are compared")
    names = [field.name for field in focus.slicer.key_fields if field.name not in TIME_KEY_FIELDS]
    days = (focus.comparison.before, focus.comparison.now)
    one = partial(focus.context.reporting.audience, slicer=focus.slicer)
    with ThreadPoolExecutor(AT_ONCE, "moved") as pool:
        return explain.explain(
            lambda queries: list(pool.map(one, queries)), focus.query, focus.slicer, focus.field, days, names
        )


def movers_csv(focus: Focus, found: Moved) -> str:
    """A row per value, with the total difference last. Numbers are not rounded."""
    contribution = "Own change" if isinstance(found.kind, Own) else "Contribution"
    unit = numbers.title(focus.field, with_unit=True)
    parts = ("Key field", "Value", "Description", contribution, "Rate", "Mix", "Before", "Now")
    rows: list[Sequence[object]] = [[label] for label in _labels(focus, found)]
    rows.append([*parts[:3], *(f"{unit}: {part}" for part in parts[3:])])
    for moves in found.shown:
        name = filter_words.field(moves.name, focus.slicer)
        rows += (_csv_row(name, mover) for mover in moves.movers)
    whole = export_menu.cells([found.difference, float("nan"), float("nan"), found.before, found.now])
    return csv_text([*rows, ["Total", "", "", *whole]])


def _csv_row(name: str, mover: Mover) -> list[float | str]:
    figures = (mover.contribution, mover.rate, mover.mix, mover.before, mover.now)
    known = [float("nan") if figure is None else figure for figure in figures]
    return [name, mover.code, mover.words, *export_menu.cells(known)]


def _labels(focus: Focus, found: Moved) -> list[str]:
    compared = numbers.days(*focus.comparison.before) if focus.comparison else ""
    return [
        f"Question: {export_menu.question(focus, ())}, compared with {compared}",
        f"What moved: {' '.join([total_sentence(focus, found), *alike(focus, found)])}",
        f"Precision: {notes(focus, found)}",
    ]


OTHERS = "All others"
Bar = tuple[float, float, float]


def table(focus: Focus, found: Moved, moves: Moves) -> Table:
    """The movers of a key field: their contributions (for ratios by mix and rate), and their own figures."""
    title = filter_words.field(moves.name, focus.slicer)
    rest = [_rest(focus, found, moves)] if moves.adds_up else []
    label = f"What moved {numbers.title(focus.field)}, by {title}"
    rows = [_row(focus, found, moves, mover) for mover in moves.movers]
    return Table(f"moved {moves.name}", label, _columns(focus, found, moves, title), [*rows, *rest])


def _columns(focus: Focus, found: Moved, moves: Moves, title: str) -> list[Column]:
    own = isinstance(found.kind, Own)
    contribution = Column("contribution", "Own change" if own else "Contribution", about=_unit(focus))
    parts = [Column("rate", "Rate"), Column("mix", "Mix")] if moves.movers[0].mix is not None else []
    return [
        Column("value", title, is_key=True),
        contribution,
        *parts,
        Column("before", "Before"),
        Column("now", "Now"),
    ]


def _unit(focus: Focus) -> str:
    return f"In the unit of {numbers.title(focus.field, with_unit=True)}"


def _row(focus: Focus, found: Moved, moves: Moves, mover: Mover) -> Row:
    parts = [] if mover.mix is None else [_move_cell(focus, mover.rate), _move_cell(focus, mover.mix)]
    sides = [Cell(focus.numbers.full(value, focus.field)) for value in (mover.before, mover.now)]
    label = Cell(mover_name(mover), about=filter_words.both(mover.code, mover.words))
    cells = [label, _move_cell(focus, mover.contribution, _bar(found, mover)), *parts, *sides]
    return Row(cells, ((moves.name, mover.code),), (_is_asked(focus, moves.name, mover.code),))


def _rest(focus: Focus, found: Moved, moves: Moves) -> Row:
    """The contribution of all values that are not shown."""
    whole = found.difference - sum(mover.contribution for mover in moves.movers)
    has_parts = moves.movers[0].mix is not None
    empty = [Cell(NOTHING)] * (4 if has_parts else 2)
    return Row([Cell(OTHERS), _move_cell(focus, whole), *empty], kind="rest")


def _move_cell(focus: Focus, value: float | None, bar: Bar | None = None) -> Cell:
    return Cell(NOTHING if value is None else change_text(focus, value), bar=bar, has_sides=True)


def _bar(found: Moved, mover: Mover) -> Bar | None:
    """The bar of a contribution, from the middle of its cell: to the left of it where negative.

    All key fields have one scale: half a cell is the largest contribution of all.
    """
    if not found.scale:
        return None
    share = mover.contribution / found.scale
    return share, share, share


def _is_asked(focus: Focus, name: str, code: str) -> bool:
    return any(f.name == name and f.match == "equals" and code in f.value for f in focus.query.filters)


BLOCK, HEIGHT = "moved", 320


@st.fragment(parallel=True)
def draw(context: PageContext) -> None:
    """Draw the block if it is open; only then its many queries are sent."""
    drill.catch_up(context)
    if not context.slicer.data_fields or not question.view(context).moved:
        return
    seen = focus.of(context)
    with st.container(key=BLOCK, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader("What moved", anchor=False)
            st.space("stretch")
            taken = st.container(width="content")
        if seen.comparison is None:
            st.caption("No days are compared: choose some beside the dates.")
            return
        with problems.report_errors("What moved"):
            _draw(seen, taken)


def _draw(focus: Focus, taken: DeltaGenerator) -> None:
    """Draw a sentence on the total, then a sentence and a table per key field."""
    with st.skeleton(height=HEIGHT):
        found = find_movers(focus)
    st.markdown(plain(total_sentence(focus, found)))
    if sentences := mover_sentences(focus, found):
        st.markdown("\n".join(f"- {plain(one)}" for one in sentences))
    if found.shown:
        with taken:
            _export(focus, found)
        tables = [table(focus, found, moves) for moves in found.shown]
        rows.draw(drill.MOVED, tables, question.taken(drill.MOVED), partial(drill.follow, focus.context))
    st.caption(plain(notes(focus, found)))


def _export(focus: Focus, found: Moved) -> None:
    """Draw the values as a download, and a link to Export."""
    menu = export_menu.open_menu(BLOCK)
    if menu is not None:
        with menu:
            text = partial(movers_csv, focus, found)
            export_menu.download(focus, BLOCK, text, "Download these values as CSV")
            export_menu.way_on()
