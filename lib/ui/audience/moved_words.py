"""The sentences of the block "What moved"."""

from lib.reporting.moved.explain import MOST_FIELDS, Moved
from lib.reporting.moved.movers import Mover, Moves
from lib.reporting.moved.quantity import Formula, Own, Ratio
from lib.ui.charts import numbers
from lib.ui.charts.numbers import NOT_SET
from lib.ui.question import filter_words
from lib.ui.question.focus import Focus

NAMED = 2


def whole(seen: Focus, found: Moved) -> str:
    """The change of the total, and what was found."""
    if seen.comparison is None:
        return ""
    now, before = (numbers.days(*days) for days in seen.comparison)
    title = numbers.title(seen.field)
    relative = seen.numbers.change(found.difference / abs(found.before) if found.before else None)
    said = f"{title} {signed(seen, found.difference)} ({relative}), {now} against {before}."
    if found.moves:
        return said
    considered = f"{seen.numbers.number(found.considered)} values of its key fields"
    return f"{said} Nothing stands out: none of {considered} moved more than noise."


def sentence(seen: Focus, found: Moved, moves: Moves) -> str:
    """The values of a key field and how much of the change they explain."""
    named = [name(mover) for mover in moves.telling]
    rest = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    said = f"{filter_words.field(moves.name, seen.slicer)}: {', '.join(named[:NAMED])}{rest}"
    moved = sum(mover.contribution for mover in moves.telling)
    if isinstance(found.kind, Own) or moves.is_overlapping:
        return f"{said}, {signed(seen, moved)}" if len(named) == 1 else said
    share = [mover.share for mover in moves.telling]
    told = f"{said}, {signed(seen, moved)} of {signed(seen, found.difference)}"
    if all(one is not None for one in share):
        told += f" ({seen.numbers.percent(100 * sum(one or 0.0 for one in share), 0)})"
    return f"{told}{_parts(seen, moves.telling)}"


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
    if numbers.unit(seen.field) == "%":
        return f"{_plus(value, seen.numbers.plain(value, seen.field))} points"
    return _plus(value, seen.numbers.short(value, seen.field))


def name(mover: Mover) -> str:
    """The label of a value."""
    return mover.words or mover.code or NOT_SET


def _plus(value: float, text: str) -> str:
    return f"+{text}" if value > 0 and text.strip("0.,") else text


def _parts(seen: Focus, telling: tuple[Mover, ...]) -> str:
    """The contributions of a few values by rate and mix."""
    if not telling or telling[0].mix is None:
        return ""
    rate, mix = (sum(getattr(mover, part) or 0.0 for mover in telling) for part in ("rate", "mix"))
    return f": rate {signed(seen, rate)}, mix {signed(seen, mix)}"


def _held_against(found: Moved) -> str:
    if isinstance(found.kind, Own) or not found.weeks:
        return (
            "Not compared with usual movement: there is no data for earlier periods like these. "
            "Changes smaller than the sample's uncertainty are left out."
        )
    earlier = "the same difference once before" if found.weeks == 1 else f"{found.weeks} earlier ones like it"
    return f"Compared with {earlier}: values that usually move as much are left out."
