"""A change of several entities on its way: each is read for the preview, then sent, one request each."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lib.deals.bulk_actions import ActionRecord, ActionRow
from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals import edits
from lib.ui.deals.rows import Key
from lib.ui.deals.several_change import Effect
from lib.ui.kit.problems import is_open
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
STEP_SECONDS, TOGETHER, MAY_BE = 0.5, 50, " It may have been saved."
Phase = Literal["form", "reading", "preview", "writing", "done"]
Sold = DemandDeal | SupplyPackage


@dataclass(frozen=True)
class Outcome:
    """The result of one change: saved, or why not. `is_open`: it may have been saved."""

    effect: Effect
    reason: str = ""
    is_open: bool = False


@dataclass(kw_only=True)
class PlannedJob(ABC):
    """The change as far as it has come, changed in place, so that a run that is broken off loses nothing.

    `to_read` maps what is still to be read to the rows that it is read for; `done` are the keys that are
    saved, which a second preview leaves out; `tried` is what was sent without an answer, by key. `record` is
    what its Undo works from.
    """

    record: ActionRecord
    phase: Phase = "form"
    to_read: dict[Key, set[Key]] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    left: list[Effect] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    done: set[Key] = field(default_factory=set)
    tried: dict[Key, Mapping[str, Any]] = field(default_factory=dict)

    @abstractmethod
    def planned(self, found: Sold, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity that was read for these rows."""

    @abstractmethod
    def name(self, key: Key) -> str:
        """What an entity is called that could not be read."""

    def begin(self, rows: Iterable[Key]) -> None:
        """Read these rows, and what the change concerns, from now on."""
        self.effects, self.outcomes, self.left = [], [], []
        self.to_read = {key: {key} for key in rows}
        self.phase = "reading"

    def read(self, client: Deals) -> None:
        """Read some more; the preview is complete when nothing is left to read."""
        ends = time.monotonic() + STEP_SECONDS
        while self.to_read and time.monotonic() < ends:
            key = next(iter(self.to_read))
            rows = frozenset(self.to_read[key])
            try:
                found: Sold = client.get(key[0], key[1])
            except TrancheError as error:
                self.effects.append(Effect(key, self.name(key), rows, refused=ended(error.reason)))
            else:
                self.planned(found, key, rows)
            del self.to_read[key]
        if not self.to_read:
            self.phase = "preview"

    def start(self) -> None:
        """Send what the preview shows, from now on; the second click of a double click does nothing."""
        if self.phase != "preview":
            return
        self.left = [one for one in self.effects if one.is_change]
        self.phase = "writing"

    def write(self, client: Deals) -> None:
        """Send some more. Without an answer to one the rest is not sent: each would be waited for.

        Each is recorded before it is sent, and none is sent that can't be.
        """
        some, ends = self.left[:TOGETHER], time.monotonic() + STEP_SECONDS
        first = len(self.outcomes)
        try:
            self.record.add([row_of(one) for one in some])
        except TrancheError as error:
            self.outcomes.append(Outcome(self.left.pop(0), ended(error.reason)))
            self.phase = "done"
            return
        while some and time.monotonic() < ends:
            outcome = send(client, some.pop(0))
            self.outcomes.append(outcome)
            del self.left[0]
            if outcome.is_open:
                self.tried[outcome.effect.key] = outcome.effect.after
                break
            if not outcome.reason:
                self.done.add(outcome.effect.key)
        unsaved = [one.effect.key for one in self.outcomes[first:] if one.reason and not one.is_open]
        drop(self.record, [*unsaved, *(one.key for one in some)])
        if not self.left or self.outcomes[-1].is_open:
            self.phase = "done"

    @property
    def progress(self) -> tuple[int, int]:
        """How many are read or sent, of how many."""
        if self.phase == "reading":
            return len(self.effects), len(self.effects) + len(self.to_read)
        return len(self.outcomes), len(self.outcomes) + len(self.left)

    @property
    def failed(self) -> list[Outcome]:
        """Changes refused by the preview or by the service."""
        refused = [Outcome(one, one.refused) for one in self.effects if one.refused]
        return [one for one in self.outcomes if one.reason] + refused

    @property
    def unsaved(self) -> set[Key]:
        """The rows of which something failed or was not sent."""
        return {key for one in [*self.failed, *map(Outcome, self.left)] for key in one.effect.rows}

    def add(self, found: Sold, effect: Effect) -> None:
        """Add the effect on an entity, unless it is saved; what a first try saved is no change any more."""
        if effect.key in self.done:
            return
        tried = self.tried.get(effect.key)
        if tried is not None and is_so(found, tried):
            self.done.add(effect.key)
            effect = Effect(
                effect.key, effect.name, effect.rows, effect.before, also="saved by the first try"
            )
        self.effects.append(effect)


def row_of(effect: Effect) -> ActionRow:
    """What is recorded of an effect."""
    before = {name: effect.before.get(name) for name in effect.after}
    return ActionRow(effect.key, effect.name, before, effect.after)


def drop(record: ActionRecord, keys: Collection[Key]) -> None:
    """Forget these rows; where that fails they stay, and Undo finds them as they were."""
    try:
        record.drop(keys)
    except TrancheError as error:
        log.warning("%d rows that were not changed stay recorded for Undo: %s", len(keys), error.reason)


def is_so(found: Sold, fields: Mapping[str, Any]) -> bool:
    """Whether an entity has these values, as a request carries them."""
    there = edits.of(found)
    return all(name in there and there[name] == value for name, value in fields.items())


def send(client: Deals, effect: Effect) -> Outcome:
    """One change, unless the entity changed since it was read."""
    try:
        client.change(*effect.key, effect.after, effect.etag)
    except TrancheError as error:
        may = MAY_BE if is_open(error) else ""
        return Outcome(effect, f"{ended(error.reason)}{may}", is_open(error))
    return Outcome(effect)


def ended(sentence: str) -> str:
    """The sentence with one full stop."""
    return f"{sentence.rstrip('.')}."
