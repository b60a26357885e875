"""Targets that are added to packages, removed from them, or put in place of those that they have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lib.deals.models import SupplyPackage, Targeting
from lib.insight.kinds import KINDS, elements
from lib.ui.deals import facts
from lib.ui.deals.changes import merge

Mode = Literal["add", "remove", "replace"]
Element = dict[str, Any]
MATCH_NOUNS = {"app_list_targetings": "apps", "domain_list_targetings": "domains"}


@dataclass(frozen=True)
class TargetingEdit:
    """What is to become of the targeting of several packages.

    `add` takes the place of the same value on the other side (only, never); `replace` that of all values of
    the kinds that it has.
    """

    mode: Mode
    targeting: Targeting

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, part in elements(self.targeting).items() if part)

    def apply(self, package: SupplyPackage) -> tuple[dict[str, list[Element]], str]:
        """The fields of a package that change, and why it is refused; empty if it is not."""
        readable = merge.of_package(package)
        if unread := [facts.title(name) for name in self.names if name not in readable]:
            return {}, f"{', '.join(unread)} can't be read. It stays."
        before, parts = elements(package), elements(self.targeting)
        after: dict[str, list[Element]] = {}
        for name in self.names:
            if self.mode == "remove":
                rest = [element for element in before[name] if element not in parts[name]]
                if _matches_all(before[name], rest):
                    return {}, self._stays(name)
            elif self.mode == "add":
                others = [element for element in before[name] if not _is_among(element, parts[name])]
                rest = _in_order(name, [*others, *parts[name]])
            else:
                types = {element.get("type") for element in parts[name]}
                others = [element for element in before[name] if element.get("type") not in types]
                rest = _in_order(name, [*others, *parts[name]])
            if rest != before[name]:
                after[name] = rest
        return after, ""

    def _stays(self, name: str) -> str:
        """Why the last included values of a field stay."""
        kinds = (kind for kind in KINDS if kind.field == name)
        values = [kind.value(target) for kind in kinds for target in kind.of(self.targeting)]
        noun = MATCH_NOUNS.get(name, facts.title(name).lower())
        verb, them = ("stays", "it") if len(values) == 1 else ("stay", "them")
        sentence = f"{facts.title(name)}: {', '.join(values)} {verb}"
        return f"{sentence}, because without {them} the package would match all {noun}."


def _matches_all(before: Sequence[Element], after: Sequence[Element]) -> bool:
    """Whether the last included targets of a field would go: without any it matches everything."""
    return any(not element["is_excluded"] for element in before) and all(
        element["is_excluded"] for element in after
    )


def _is_among(element: Element, others: Sequence[Element]) -> bool:
    """Whether the same value is among these, on either side."""
    return any({**element, "is_excluded": other["is_excluded"]} == other for other in others)


def _in_order(name: str, part: Sequence[Element]) -> list[Element]:
    """The elements of a field in the order in which they are compared."""
    return elements(Targeting.model_validate({name: part}))[name]
