"""The block "What moved": the values of key fields that explain the difference between two periods."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
from lib.ui.kit import problems, rows
from lib.ui.kit.frame import Here
from lib.ui.kit.markdown import plain
from lib.ui.kit.rows import Cell, Column, Row, Table
from lib.ui.query import answer_csv, ask, drill, export_menu, filter_words, focus, question
from lib.ui.query.focus import Focus
from lib.wire.spreadsheet import csv_text

NAMED = 2


def total_sentence(seen: Focus, found: Moved) -> str:
    """The change of the total, and what was found."""
    if seen.comparison is None:
        return ""
    now, before = (numbers.days(*days) for days in seen.comparison)
    title = numbers.title(seen.field)
    relative = seen.numbers.change(found.difference / abs(found.before) if found.before else None)
    total = f"{title} {signed(seen, found.difference)} ({relative}), {now} against {before}."
    if found.moves or found.alike:
        return total
    considered = f"{seen.numbers.number(found.considered)} values of its key fields"
    return f"{total} Nothing stands out: none of {considered} moved more than noise."


def mover_sentences(seen: Focus, found: Moved) -> list[str]:
    """A sentence per key field that is shown, and one on those of which all values changed alike."""
    shown = [_sentence(seen, found, moves) for moves in found.shown]
    return [*shown, *alike(seen, found)]


def _sentence(seen: Focus, found: Moved, moves: Moves) -> str:
    """The first values of a key field's table, and what all of its rows contribute together."""
    named = ", ".join(mover_name(mover) for mover in moves.movers[:NAMED])
    more = len(moves.movers) - NAMED
    first = f"{filter_words.field(moves.name, seen.slicer)}: {named}{f' and {more} more' if more > 0 else ''}"
    together = moves.together
    if isinstance(found.kind, Own) or moves.is_overlapping:
        is_one = len(moves.movers) == 1
        return f"{first}, {signed(seen, together.contribution)}" if is_one else first
    share = "" if together.share is None else f" ({seen.numbers.percent(100 * together.share, 0)})"
    part = f"{signed(seen, together.contribution)} of {signed(seen, found.difference)}"
    return f"{first}, {part}{share}{_parts(seen, together)}"


def alike(seen: Focus, found: Moved) -> list[str]:
    """A sentence that in some key fields all values changed alike, which names none of them; or nothing."""
    ranges = [moves.alike for moves in found.alike if moves.alike is not None]
    if not ranges:
        return []
    names = ", ".join(filter_words.field(moves.name, seen.slicer) for moves in found.alike)
    ends = (min(low for low, _ in ranges), max(high for _, high in ranges))
    verb = "rose" if found.difference > 0 else "fell"
    return [f"{names}: all {verb} alike ({' to '.join(dict.fromkeys(map(seen.numbers.change, ends)))})"]


def notes(seen: Focus, found: Moved) -> str:
    """Notes on the computation that a reader needs."""
    said = [_held_against(found)]
    if isinstance(found.kind, Ratio):
        said.append("Mix: the value's share changed; rate: its own figure did; they add up.")
    if isinstance(found.kind, Formula):
        said.append("A value contributes what leaving it out would change; these do not add up.")
    if isinstance(found.kind, Own):
        said.append(f"{numbers.title(seen.field)} do not add up: each value's own change is shown.")
    if any(moves.is_overlapping for moves in found.moves):
        said.append("Fields with several values per record come last: their values overlap.")
    if len(seen.slicer.key_fields) > MOST_FIELDS:
        said.append(f"Only the first {MOST_FIELDS} key fields were analysed.")
    return " ".join(said)


def signed(seen: Focus, value: float) -> str:
    """A signed difference in the field's unit; for percentages, in points."""
    return seen.numbers.signed(value, seen.field)


def mover_name(mover: Mover) -> str:
    """The label of a value."""
    return mover.words or mover.code or NOT_SET


def _parts(seen: Focus, together: Together) -> str:
    """The contributions of the rows by rate and mix."""
    if together.rate is None or together.mix is None:
        return ""
    return f": rate {signed(seen, together.rate)}, mix {signed(seen, together.mix)}"


def _held_against(found: Moved) -> str:
    if isinstance(found.kind, Own) or not found.weeks:
        return (
            "Not compared with usual movement: there is no data for earlier periods like these. "
            "Changes smaller than the sample's uncertainty are left out."
        )
    earlier = "the same difference once before" if found.weeks == 1 else f"{found.weeks} earlier ones like it"
    return f"Compared with {earlier}: values that usually move as much are left out."


FOUND, MOST, AT_ONCE = "moved_found", 4, 6
Key = tuple[object, ...]
Kept = dict[Key, tuple[float, "Future[Moved]"]]


def find_movers(seen: Focus) -> Moved:
    """The values that moved the field shown between the two periods. Raises the service's errors.

    Who comes while it is computed waits for it: a run that a newer one has overtaken asks nothing twice.
    """
    kept: Kept = st.session_state.setdefault(FOUND, {})
    key = (seen.here.person.username, seen.query, seen.comparison, seen.field.name)
    mine = (time.monotonic(), Future[Moved]())
    since, future = kept.setdefault(key, mine)
    if time.monotonic() - since > ask.SECONDS:
        kept[key] = mine
        future = mine[1]
    if future is mine[1]:
        _settle(seen, kept, key, future)
    return future.result()


def _settle(seen: Focus, kept: Kept, key: Key, future: "Future[Moved]") -> None:
    for old in list(kept)[:-MOST]:
        kept.pop(old, None)
    try:
        future.set_result(_asked(seen))
    except BaseException as error:
        kept.pop(key, None)
        future.set_exception(error)


def _asked(seen: Focus) -> Moved:
    if seen.comparison is None:
        raise ValueError("no days are compared")
    names = [field.name for field in seen.slicer.key_fields if field.name not in TIME_KEY_FIELDS]
    days = (seen.comparison.before, seen.comparison.now)
    one = partial(seen.here.reporting.audience, slicer=seen.slicer)
    with ThreadPoolExecutor(AT_ONCE, "moved") as pool:
        return explain.explained(
            lambda queries: list(pool.map(one, queries)), seen.query, seen.slicer, seen.field, days, names
        )


def movers_csv(seen: Focus, found: Moved) -> str:
    """A row per value, with the total difference last. Numbers are not rounded."""
    contribution = "Own change" if isinstance(found.kind, Own) else "Contribution"
    unit = numbers.title(seen.field, with_unit=True)
    parts = ("Key field", "Value", "Description", contribution, "Rate", "Mix", "Before", "Now")
    rows: list[Sequence[object]] = [[label] for label in _labels(seen, found)]
    rows.append([*parts[:3], *(f"{unit}: {part}" for part in parts[3:])])
    for moves in found.shown:
        name = filter_words.field(moves.name, seen.slicer)
        rows += (_csv_row(name, mover) for mover in moves.movers)
    whole = answer_csv.cells([found.difference, float("nan"), float("nan"), found.before, found.now])
    return csv_text([*rows, ["Total", "", "", *whole]])


def _csv_row(name: str, mover: Mover) -> list[float | str]:
    figures = (mover.contribution, mover.rate, mover.mix, mover.before, mover.now)
    known = [float("nan") if figure is None else figure for figure in figures]
    return [name, mover.code, mover.words, *answer_csv.cells(known)]


def _labels(seen: Focus, found: Moved) -> list[str]:
    compared = numbers.days(*seen.comparison.before) if seen.comparison else ""
    return [
        f"Question: {answer_csv.question(seen, ())}, compared with {compared}",
        f"What moved: {' '.join([total_sentence(seen, found), *alike(seen, found)])}",
        f"Precision: {notes(seen, found)}",
    ]


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
    label = Cell(mover_name(mover), about=filter_words.both(mover.code, mover.words))
    cells = [label, _moved(seen, mover.contribution, _bar(found, mover)), *parts, *sides]
    return Row(cells, ((moves.name, mover.code),), (_is_asked(seen, moves.name, mover.code),))


def _rest(seen: Focus, found: Moved, moves: Moves) -> Row:
    """The contribution of all values that are not shown."""
    whole = found.difference - sum(mover.contribution for mover in moves.movers)
    has_parts = moves.movers[0].mix is not None
    empty = [Cell(NOTHING)] * (4 if has_parts else 2)
    return Row([Cell(OTHERS), _moved(seen, whole), *empty], kind="rest")


def _moved(seen: Focus, value: float | None, bar: Bar | None = None) -> Cell:
    return Cell(NOTHING if value is None else signed(seen, value), bar=bar, has_sides=True)


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
        found = find_movers(seen)
    st.markdown(plain(total_sentence(seen, found)))
    if sentences := mover_sentences(seen, found):
        st.markdown("\n".join(f"- {plain(one)}" for one in sentences))
    if found.shown:
        with taken:
            _export(seen, found)
        tables = [table(seen, found, moves) for moves in found.shown]
        rows.draw(drill.MOVED, tables, question.taken(drill.MOVED), partial(drill.follow, seen.here))
    st.caption(plain(notes(seen, found)))


def _export(seen: Focus, found: Moved) -> None:
    """Draw the values as a download, and a link to Export."""
    menu = export_menu.opened(BLOCK)
    if menu is not None:
        with menu:
            text = partial(movers_csv, seen, found)
            export_menu.download(seen, BLOCK, text, "Download these values as CSV")
            export_menu.way_on()
