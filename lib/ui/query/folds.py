"""The open rows of a pivot: the first level, unless all or single rows are opened or closed.

A link has the split, then the path of each row that differs, both joined twice over, with `all` or
`none` before them where all rows were opened or closed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lib.reporting.links import join_texts, split_texts
from lib.reporting.models import Slicer

MOST = 60
Path = tuple[str, ...]
Rule = Literal["first", "all", "none"]


@dataclass(frozen=True)
class Folds:
    """The open rows of a split by `keys`: those of the first level, all or none, as `rule` says.

    `exceptions` are the rows for which the opposite holds, each as its values from the first level on.
    """

    keys: tuple[str, ...] = ()
    exceptions: tuple[Path, ...] = ()
    rule: Rule = "first"


AS_USUAL = Folds()


def is_open(folds: Folds, keys: Iterable[str], path: Path) -> bool:
    """Whether the rows below this one are shown, in a pivot by these key fields."""
    mine = folds if folds.keys == tuple(keys) else AS_USUAL
    return _by_rule(mine.rule, path) != (path in mine.exceptions)


def with_fold(folds: Folds, keys: Iterable[str], path: Path, opens: bool) -> Folds:
    """The same with this row open or closed; the folds of another split go, and the first of too many."""
    split = tuple(keys)
    mine = folds if folds.keys == split else AS_USUAL
    others = [other for other in mine.exceptions if other != path]
    is_usual = opens == _by_rule(mine.rule, path)
    exceptions = tuple(others if is_usual else [*others, path])[-MOST:]
    return Folds(split, exceptions, mine.rule) if exceptions or mine.rule != "first" else AS_USUAL


def everything(keys: Iterable[str], opens: bool) -> Folds:
    """All rows open, or none."""
    split = tuple(keys)
    if opens and len(split) <= 2:
        return AS_USUAL
    return Folds(split, rule="all" if opens else "none")


def to_text(folds: Folds) -> str:
    """The folds as one parameter; empty where all rows are as usual."""
    if folds == AS_USUAL or not (folds.exceptions or folds.rule != "first"):
        return ""
    rule = () if folds.rule == "first" else ((folds.rule,),)
    return join_texts(map(join_texts, (*rule, folds.keys, *folds.exceptions)))


def from_text(text: str, slicer: Slicer) -> Folds:
    """The folds that a parameter asks for; none where it names a key field that the slicer lacks."""
    items = [split_texts(item) for item in split_texts(text)]
    rules: dict[Path, Rule] = {("all",): "all", ("none",): "none"} if len(items) > 1 else {}
    rule = rules.get(items[0], "first")
    keys, *paths = items[rule != "first" :]
    names = {field.name for field in slicer.key_fields}
    if not names.issuperset(keys):
        return AS_USUAL
    exceptions = tuple(dict.fromkeys(path for path in paths if 0 < len(path) < len(keys)))[:MOST]
    return Folds(keys, exceptions, rule) if exceptions or rule != "first" else AS_USUAL


def _by_rule(rule: Rule, path: Path) -> bool:
    return rule == "all" or (rule == "first" and len(path) == 1)
