"""The repair of dead targets: one change for each package, unless it changed meanwhile."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lib.deals.models import SupplyPackage
from lib.insight.dead_targets import IncludedTarget, identity
from lib.insight.kinds import elements
from lib.ui.deals import facts
from lib.ui.deals.planned_job import PlannedJob, Sold
from lib.ui.deals.rows import Key
from lib.ui.deals.several_change import Effect

SUPPLY = "supply_deals"
MATCHED = {"app_list_targetings": "apps", "domain_list_targetings": "domains"}


@dataclass
class RepairJob(PlannedJob):
    """The removal of `chosen` targets, by package id.

    `after` are the packages as they would be, `removed` what they lose, by key.
    """

    chosen: Mapping[int, Sequence[IncludedTarget]]
    names: Mapping[int, str]
    after: dict[Key, SupplyPackage] = field(default_factory=dict)
    removed: dict[Key, str] = field(default_factory=dict)

    def planned(self, found: Sold, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of a package."""
        if not isinstance(found, SupplyPackage):
            return
        fields, gone, kept = _without(found, self.chosen[key[1]])
        also = " ".join(_stays(name, some) for name, some in kept.items())
        refused = "" if fields else also
        if not fields and not kept:
            also = "It does not target this any more."
        before = {name: elements(found)[name] for name in fields}
        effect = Effect(key, self.name(key), rows, before, fields, found.etag, refused, also)
        targets = {name: tuple(one for one in getattr(found, name) if one not in gone) for name in fields}
        self.after[key] = found.model_copy(update=targets)
        self.removed[key] = ", ".join(one.kind.value(one.target) for one in self._removed(key[1], fields))
        self.add(found, effect)

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return self.names.get(key[1]) or f"Package {key[1]}"

    def _removed(self, package: int, fields: Mapping[str, Any]) -> Iterable[IncludedTarget]:
        return (one for one in self.chosen[package] if one.kind.field in fields)


def _without(
    package: SupplyPackage, dead: Sequence[IncludedTarget]
) -> tuple[dict[str, Any], list[Any], dict[str, list[str]]]:
    """The fields without these targets, the targets that go, and by field those that have to stay.

    An element without included targets matches everything: its last ones stay.
    """
    fields: dict[str, Any] = {}
    gone: list[Any] = []
    kept: dict[str, list[str]] = {}
    there = elements(package)
    for name in dict.fromkeys(one.kind.field for one in dead):
        here = [one for one in dead if one.kind.field == name]
        lost = [one.kind.element(identity(one.kind, one.target), False) for one in here]
        rest = [one for one in there[name] if one not in lost]
        if len(rest) == len(there[name]):
            continue
        if all(one["is_excluded"] for one in rest):
            kept[name] = [one.kind.value(one.target) for one in here]
            continue
        fields[name] = rest
        ids = {(one.kind.name, identity(one.kind, one.target)) for one in here}
        gone += [
            target
            for kind in dict.fromkeys(one.kind for one in here)
            for target in kind.of(package)
            if not target.is_excluded and (kind.name, identity(kind, target)) in ids
        ]
    return fields, gone, kept


def _stays(name: str, values: list[str]) -> str:
    matched = MATCHED.get(name, facts.title(name).lower())
    verb, them = ("stays", "it") if len(values) == 1 else ("stay", "them")
    sentence = f"{facts.title(name)}: {', '.join(values)} {verb}"
    return f"{sentence}, because without {them} the package would match all {matched}."
