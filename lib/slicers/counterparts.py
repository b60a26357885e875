"""Fields of two slicers that mean the same: of one name, role, label or mapping.

Slicers name their fields as their reports do: `country` here is `user.geo.country` there. A link or a filter
that goes to another slicer means the field, not its name.
"""

import re
from collections.abc import Iterable

from lib.slicers.models import DataField, KeyField

Field = KeyField | DataField


def counterpart(field: Field, candidates: Iterable[Field]) -> str | None:
    """The name of the candidate that means the same as a field of another slicer; None without exactly one.

    Of a field without a label, like one that only a link names, the last words of its name count.
    """
    fields = list(candidates)
    if any(other.name == field.name for other in fields):
        return field.name
    own_label = _label(field)
    for meaning in (
        [other for other in fields if field.role and other.role == field.role],
        [other for other in fields if own_label and _label(other) == own_label],
        [other for other in fields if _is_of_mapping(field, other)],
        [other for other in fields if not own_label and _ends_alike(field.name, other)],
    ):
        if len(meaning) == 1:
            return meaning[0].name
    return None


def title(name: str, fields: Iterable[Field] = ()) -> str:
    """What people call a field: its label where one of the fields has it, else the last word of its name."""
    if name.startswith("own."):
        return "of an own metric"  # whose label went with it (lib/serving/connect/own_metrics.py)
    label = next((field.description for field in fields if field.name == name), "")
    last_part = name.split(".")[-1].replace("_", " ").strip().removesuffix(" id")
    return label or (last_part[:1].upper() + last_part[1:]) or name


def _words(text: str) -> list[str]:
    return re.split(r"[\W_]+", text.casefold())


def _label(field: Field) -> str:
    return " ".join(_words(field.description)).strip()


def _is_of_mapping(field: Field, other: Field) -> bool:
    """Whether both have one mapping, and are called by it: flags share `yes_no` and mean different things."""
    mapping = getattr(field, "mapping", None)
    if not mapping or getattr(other, "mapping", None) != mapping:
        return False
    return all(mapping.casefold() in f"{each.name} {each.description}".casefold() for each in (field, other))


def _ends_alike(name: str, other: Field) -> bool:
    words = _words(name)
    ends = [end for end in (_words(other.description), _words(other.name)) if any(end)]
    return any(words[-len(end) :] == end or end[-len(words) :] == words for end in ends)
