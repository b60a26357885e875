"""The open rows of a pivot: those of the first level unless closed, others only if opened.

A link has the split, then the path of each row that is not as usual, both joined twice over (link.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lib.reporting.models import Slicer
from lib.ui.question.link import joined, parted

MOST = 60
Path = tuple[str, ...]


@dataclass(frozen=True)
class Folds:
    """The rows of a split by `keys` that differ from the default: each as its values from the top on."""

    keys: tuple[str, ...] = ()
    turned: tuple[Path, ...] = ()


AS_USUAL = Folds()


def is_open(folds: Folds, keys: Iterable[str], path: Path) -> bool:
    """Whether the rows below this one are shown, in a pivot by these key fields."""
    is_turned = folds.keys == tuple(keys) and path in folds.turned
    return (len(path) == 1) != is_turned


def with_fold(folds: Folds, keys: Iterable[str], path: Path, opens: bool) -> Folds:
    """The same with this row open or closed. Drops folds of another split, and the oldest of too many."""
    split = tuple(keys)
    others = [other for other in folds.turned if other != path] if folds.keys == split else []
    is_usual = opens == (len(path) == 1)
    turned = tuple(others if is_usual else [*others, path])[-MOST:]
    return Folds(split, turned) if turned else AS_USUAL


def to_text(folds: Folds) -> str:
    """The folds as one URL parameter; empty if no row differs from the default."""
    return joined(map(joined, (folds.keys, *folds.turned))) if folds.turned else ""


def from_text(text: str, slicer: Slicer) -> Folds:
    """The folds that a parameter asks for; none where it names a key field that the slicer lacks."""
    keys, *paths = map(parted, parted(text))
    known = {field.name for field in slicer.key_fields}
    if not known.issuperset(keys):
        return AS_USUAL
    turned = tuple(dict.fromkeys(path for path in paths if 0 < len(path) < len(keys)))[:MOST]
    return Folds(keys, turned) if turned else AS_USUAL
