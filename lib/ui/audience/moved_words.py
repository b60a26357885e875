"""The sentences of the block "What moved"."""

from lib.reporting.moved.explain import MOST_FIELDS, Moved
from lib.reporting.moved.movers import Mover, Moves, Together
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
    total = f"{title} {signed(seen, found.difference)} ({relative}), {now} against {before}."
    if found.moves or found.alike:
        return total
    considered = f"{seen.numbers.number(found.considered)} values of its key fields"
    return f"{total} Nothing stands out: none of {considered} moved more than noise."


def sentences(seen: Focus, found: Moved) -> list[str]:
    """A sentence per key field that is shown, and one on those of which all values changed alike."""
    shown = [_sentence(seen, found, moves) for moves in found.shown]
    return [*shown, *alike(seen, found)]


def _sentence(seen: Focus, found: Moved, moves: Moves) -> str:
    """The first values of a key field's table, and what all of its rows contribute together."""
    named = ", ".join(name(mover) for mover in moves.movers[:NAMED])
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


def name(mover: Mover) -> str:
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
