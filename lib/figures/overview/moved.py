"""What moved: the values of all key fields that explain a difference between periods, ranked."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from lib.figures import numbers
from lib.figures.numbers import NOT_SET, NOTHING
from lib.figures.query import compared_answers, filters
from lib.figures.query.focus import Focus
from lib.figures.rows import Cell, Column, Row, Table
from lib.reporting.moved import explain
from lib.reporting.moved.explain import MOST_FIELDS, Moved
from lib.reporting.moved.movers import Mover
from lib.reporting.moved.quantity import Formula, Own, Ratio
from lib.reporting.query_batch import Ask
from lib.slicers.granularities import TIME_KEY_FIELDS

FEW_WEEKS, AT_ONCE = 5, 6
MOST_SHARE = 2
"""Of contributions more than so many times the whole change, shares of it say nothing: it hardly moved."""
SHARE = "Of the whole change; over 100 % where others go against it, – where it hardly moved"
VOLUME = "The value's part of what the figure is divided by, before → now: the mix comes from it"
Bar = tuple[float, float, float]
NamedMover = tuple[str, Mover]


def total_sentence(focus: Focus, movers: Moved) -> str:
    """The change of the total, and what was found."""
    if focus.comparison is None:
        return ""
    now, before = (numbers.days(*days) for days in focus.comparison)
    title = numbers.title(focus.field)
    if movers.withheld:
        return f"{title} is not compared: {movers.withheld}."
    coverage = compared_answers.coverage(focus, *movers.days)
    days = f" ({coverage.text})" if coverage.text else ""
    ratio = movers.difference / abs(movers.before) if movers.before and not coverage.is_thin else None
    moved = f"{change_text(focus, movers.difference)} ({focus.numbers.change(ratio)})"
    total = f"{title} {moved}, {now} against {before}{days}."
    if movers.moves or movers.alike:
        return total
    value_count = f"{focus.numbers.number(movers.value_count)} values of its key fields"
    return f"{total} Nothing stands out of noise among {value_count}; smaller causes may be hidden in it."


def sentences(focus: Focus, movers: Moved) -> list[str]:
    """The change of the total; the value that explains it best; the key fields in which all changed alike."""
    lines = [total_sentence(focus, movers)]
    if movers.moves:
        (name, (mover, *_)) = movers.moves[0].name, movers.moves[0].movers
        value = f"{filters.field(name, focus.slicer)} {mover.words or mover.code or NOT_SET}"
        share = share_of_change(movers, mover) if adds_up(movers) else None
        explains = f"explains {focus.numbers.percent(share)} of it" if share is not None else "moved most"
        lines.append(f"{value} {explains}.")
    if ranges := [moves.alike for moves in movers.alike if moves.alike is not None]:
        names = ", ".join(filters.field(moves.name, focus.slicer) for moves in movers.alike)
        ends = (min(low for low, _ in ranges), max(high for _, high in ranges))
        verb = "rose" if movers.difference > 0 else "fell"
        change = " to ".join(dict.fromkeys(map(focus.numbers.change, ends)))
        lines.append(f"{names}: all {verb} alike ({change}).")
    return lines


def notes(focus: Focus, movers: Moved) -> str:
    """Notes on the computation that a reader needs."""
    if movers.withheld:
        return ""
    if isinstance(movers.kind, Own) or not movers.weeks:
        parts = ["Not compared with usual movement: there is no data for earlier periods like these."]
        parts += ["Changes smaller than the sample's uncertainty are left out."] * movers.is_sampled
    else:
        several = f"{movers.weeks} earlier ones like it"
        earlier = "the same difference once before" if movers.weeks == 1 else several
        parts = [f"Compared with {earlier}: values that usually vary this much are hidden."]
        parts += ["With so few of them only large changes stand out."] * (movers.weeks < FEW_WEEKS)
    if isinstance(movers.kind, Ratio):
        parts.append("Mix: the value's share changed; rate: its own figure did; they add up.")
    if isinstance(movers.kind, Formula):
        parts.append("A value contributes what leaving it out would change; these do not add up.")
    if isinstance(movers.kind, Own):
        parts.append(f"{numbers.title(focus.field)} do not add up: each value's own change is shown.")
    if any(moves.is_overlapping for moves in movers.moves):
        parts.append("Fields with several values per record come last: their values overlap.")
    if len(focus.slicer.key_fields) > MOST_FIELDS:
        parts.append(f"Only the first {MOST_FIELDS} key fields were analyzed.")
    return " ".join(parts)


def change_text(focus: Focus, value: float) -> str:
    """A signed difference in the field's unit; for percentages, in points."""
    return focus.numbers.signed(value, focus.field)


def compute(focus: Focus, audience: Ask | None = None) -> Moved:
    """The same, uncached, by answers of `audience`; ValueError where no days are compared."""
    if focus.comparison is None:
        raise ValueError("no days are compared")
    names = [field.name for field in focus.slicer.key_fields if field.name not in TIME_KEY_FIELDS]
    days = (focus.comparison.before, focus.comparison.now)
    ask_one = audience or partial(focus.context.reporting.audience, slicer=focus.slicer)
    with ThreadPoolExecutor(AT_ONCE, "moved") as pool:
        return explain.explain(
            lambda queries: list(pool.map(ask_one, queries)),
            focus.query,
            focus.slicer,
            focus.field,
            days,
            names,
        )


def rank(movers: Moved) -> list[NamedMover]:
    """The values with their key fields, the largest contribution first; those that overlap come last.

    Of equal ones, those of the key field that explains best are first.
    """
    values = [(moves.is_overlapping, moves.name, mover) for moves in movers.top for mover in moves.movers]
    values.sort(key=lambda value: (value[0], -abs(value[2].contribution)))
    return [(name, mover) for _, name, mover in values]


def table(focus: Focus, movers: Moved) -> Table:
    """The ranked values: contributions, of ratios their rate, mix and volume, and their own figures."""
    own, parts = isinstance(movers.kind, Own), has_parts(movers)
    unit = f"In the unit of {numbers.title(focus.field, with_unit=True)}"
    columns = [
        Column("value", "Value", is_key=True),
        Column("field", "Key field"),
        Column("contribution", "Own change" if own else "Contribution", about=unit),
        *([Column("share", "Share", about=SHARE)] if adds_up(movers) else []),
        *(
            [Column("rate", "Rate"), Column("mix", "Mix"), Column("volume", "Volume", about=VOLUME)]
            if parts
            else []
        ),
        Column("before", "Before"),
        Column("now", "Now"),
    ]
    rows = [_row(focus, movers, name, mover) for name, mover in rank(movers)]
    return Table("moved", f"What moved {numbers.title(focus.field)}", columns, rows)


def _row(focus: Focus, movers: Moved, name: str, mover: Mover) -> Row:
    # The bar from the middle of its cell, to the left of it where negative: half a cell is the largest one.
    share_of_bar = mover.contribution / movers.scale if movers.scale else None
    bar = None if share_of_bar is None else (share_of_bar, share_of_bar, share_of_bar)
    cells = [
        Cell(mover.words or mover.code or NOT_SET, about=filters.both(mover.code, mover.words)),
        Cell(filters.field(name, focus.slicer)),
        _move_cell(focus, mover.contribution, bar),
    ]
    if adds_up(movers):
        share = share_of_change(movers, mover)
        cells.append(Cell(NOTHING if share is None else focus.numbers.percent(share), has_sides=True))
    if has_parts(movers):
        volume = [focus.numbers.percent(100 * share) for share in mover.shares or ()]
        parts = [_move_cell(focus, part) for part in (mover.rate, mover.mix)]
        cells += [*parts, Cell(" → ".join(volume) or NOTHING)]
    cells += [Cell(focus.numbers.full(value, focus.field)) for value in (mover.before, mover.now)]
    is_kept = mover.code in filters.values(focus.query, name, "equals")
    return Row(cells, ((name, mover.code),), (is_kept,))


def _move_cell(focus: Focus, value: float | None, bar: Bar | None = None) -> Cell:
    return Cell(NOTHING if value is None else change_text(focus, value), bar=bar, has_sides=True)


def adds_up(movers: Moved) -> bool:
    """Whether contributions are parts of the change."""
    return not isinstance(movers.kind, (Own, Formula)) and bool(movers.difference)


def has_parts(movers: Moved) -> bool:
    """Whether contributions are of rate and mix: of ratios, unless all their values overlap."""
    return any(mover.mix is not None for _, mover in rank(movers))


def share_of_change(movers: Moved, mover: Mover) -> float | None:
    """The share of the whole change that a value explains, in percent; None where that hardly moved.

    Where values cancel out, one of them would explain −900 % of what is left.
    """
    is_little = movers.scale > MOST_SHARE * abs(movers.difference)
    return None if is_little else 100 * mover.contribution / movers.difference
