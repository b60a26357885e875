"""A targeting in a sentence: `US, CA · smartphone · not Safari`."""

from collections.abc import Mapping

from lib.deals.models import SupplyPackage, Targeting
from lib.ui.targeting.kinds import KINDS, Kind

EVERYTHING = "everything"
LISTED = 3
Described = Mapping[str, Mapping[str, str]]


def sentence(targeting: Targeting, listed: int | None = LISTED, described: Described | None = None) -> str:
    """What is meant, then what is excluded, kind by kind; `listed` is how many of a kind to name.

    `described` gives words for values, by the kind's name. What can't be read is counted.
    """
    parts = [
        part
        for is_excluded in (False, True)
        for kind in KINDS
        if (part := _part(kind, targeting, is_excluded, listed, (described or {}).get(kind.name, {})))
    ]
    return " · ".join([*parts, *unread(targeting)]) or EVERYTHING


def unread(targeting: Targeting) -> list[str]:
    """What of a package's targeting is written in a way that this desk can't read: `places: 2 unread`."""
    if not isinstance(targeting, SupplyPackage):
        return []
    kept = {name: part for name, part in targeting.unread.items() if name in Targeting.model_fields}
    return [_counted(name, len(part) if isinstance(part, list) else None) for name, part in kept.items()]


def _counted(field: str, count: int | None) -> str:
    called = next(kind.group for kind in KINDS if kind.field == field).lower()
    return f"an unread targeting by {called}" if count is None else f"{called}: {count} unread"


def _part(
    kind: Kind, targeting: Targeting, is_excluded: bool, listed: int | None, words: Mapping[str, str]
) -> str:
    values = [kind.value(target) for target in kind.of(targeting) if target.is_excluded == is_excluded]
    names = [words.get(value, value) for value in values]
    if not names:
        return ""
    rest = f" and {len(names) - listed} more" if listed is not None and len(names) > listed else ""
    return f"{'not ' if is_excluded else ''}{', '.join(names[:listed])}{rest}"
