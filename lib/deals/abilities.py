"""What a deals service can do: all that ours does, the specification's four calls alone, or some of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lib.deals.models import ENTITIES, FEE_TYPES
from lib.wire.errors import Forbidden, Unsupported

Verb = Literal["create", "change", "delete"]
ALL = frozenset(ENTITIES)
WORDS = {
    "supply_deals": "a supply package",
    "demand_deals": "a demand deal",
    "packages": "a package of the deprecated kind",
    "seats": "a seat",
    "dsps": "a DSP",
    "domain_lists": "a list of domains",
    "app_lists": "a list of apps",
}


@dataclass(frozen=True)
class Abilities:
    """The features, with entities by their path names. The default is all of them, as in our own service.

    `lists` says that lists and single reads of every entity exist: without them the desk has what was made
    or seen here. `finds`: lists are searched, filtered, ordered and counted by linked entities too, and by
    `meaning`, as our own service does. `syncs`: it tells what the DSPs of its deals report. `is_own`: it is
    the desk's own, which also filters and orders deals by health, and changes several all or none. `fees` are
    our fee types that may be offered, with their words; without any, no fee is. `repeats`: a creation may be
    asked for again with its idempotency key, and happens once. `sees_all_seats`: the caller is shown the
    deals of all seats, as far as is known. `refuses` is a sentence why nothing at all may be changed; empty
    if it may.
    """

    creates: frozenset[str] = ALL
    changes: frozenset[str] = ALL
    removes: frozenset[str] = ALL
    lists: bool = True
    finds: bool = True
    history: bool = True
    syncs: bool = True
    is_own: bool = True
    fees: Mapping[int, str] = field(default_factory=lambda: FEE_TYPES)
    repeats: bool = True
    sees_all_seats: bool = True
    refuses: str = ""

    def why_not(self, entity: str, *verbs: Verb) -> str:
        """Why an entity can't be created, changed or deleted, as a sentence; empty if it can."""
        does = {"create": self.creates, "change": self.changes, "delete": self.removes}
        missing = [verb for verb in verbs if entity not in does[verb]]
        if self.refuses or not missing:
            return self.refuses
        return f"This service can't {' or '.join(missing)} {WORDS[entity]}; whoever runs it can"

    def check(self, verb: Verb, entity: str) -> None:
        """Forbidden where nothing may be changed, Unsupported where the service can't do that."""
        if self.refuses:
            raise Forbidden(self.refuses)
        if reason := self.why_not(entity, verb):
            raise Unsupported(reason)


PLAIN = Abilities(
    creates=frozenset({"supply_deals", "packages"}), changes=frozenset({"demand_deals"}), removes=frozenset(),
    lists=False, syncs=False,
)  # fmt: skip
"""A service with the four calls that the deals specification spells out, and no more."""
