"""A change of several entities on its way: each is read for the preview, then sent, one request each."""

import logging
import time
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lib.deals.bulk_actions import ActionRecord, ActionRow
from lib.deals.client import Deals
from lib.deals.models import PackageOrDeal
from lib.ui.deals import edits
from lib.ui.deals.rows import Key
from lib.ui.deals.several_change import Effect
from lib.ui.kit.job import STEP_SECONDS, Job
from lib.ui.kit.problems import is_open
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
TOGETHER, MAY_BE = 50, " It may have been saved."
Phase = Literal["form", "reading", "preview", "writing", "done"]


@dataclass(frozen=True)
class Outcome:
    """The result of one change: saved, or why not. `is_open`: it may have been saved."""

    effect: Effect
    reason: str = ""
    is_open: bool = False


@dataclass(kw_only=True)
class PlannedJob(Job):
    """A change of several as far as it has come: a form, the entities read, a preview, then it is sent.

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
    def planned(self, found: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
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
                found: PackageOrDeal = client.get(key[0], key[1])
            except TrancheError as error:
                self.effects.append(Effect(key, self.name(key), rows, refused=with_full_stop(error.reason)))
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
            self.outcomes.append(Outcome(self.left.pop(0), with_full_stop(error.reason)))
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

    def step(self, client: Deals) -> None:
        """Read or send some more."""
        if self.phase == "reading":
            self.read(client)
        else:
            self.write(client)

    def stop(self) -> None:
        """Send no more. A callback."""
        if self.phase == "writing":
            self.phase = "done"

    @property
    def is_running(self) -> bool:
        """Whether there is something to read or to send."""
        return self.phase in ("reading", "writing")

    @property
    def has_stop(self) -> bool:
        """Only sending can be stopped: what is read changes nothing, and the dialog can be closed."""
        return self.phase == "writing"

    @property
    def verb(self) -> str:
        """What is counted."""
        return "read" if self.phase == "reading" else "sent"

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

    def add(self, found: PackageOrDeal, effect: Effect) -> None:
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


@dataclass(kw_only=True)
class BatchJob(PlannedJob):
    """A change that reads and sends batches of one kind of entity, and reads each again before it is sent.

    `same` are those that were as wanted already when their batch was sent.
    """

    same: set[Key] = field(default_factory=set)

    @abstractmethod
    def effect(self, found: PackageOrDeal, key: Key) -> Effect:
        """What becomes of an entity as it is now."""

    def has_lists(self, keys: Sequence[Key]) -> bool:
        """Whether a list changes, so that each request has to name the state that it is about."""
        return False

    def note(self, keys: Sequence[Key]) -> None:
        """Note what a batch has changed."""

    def planned(self, found: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity."""
        self.effects.append(self.effect(found, key))

    def read(self, client: Deals) -> None:
        """Read some more; the preview is complete when nothing is left to read."""
        ends = time.monotonic() + STEP_SECONDS
        while self.to_read and time.monotonic() < ends:
            keys = _batch([*self.to_read])
            try:
                self.effects += self._effects(client, keys)
            except TrancheError as error:
                self.effects += [self._refusal(key, with_full_stop(error.reason)) for key in keys]
            for key in keys:
                del self.to_read[key]
        if not self.to_read:
            self.phase = "preview"

    def write(self, client: Deals) -> None:
        """Send a batch. Without an answer the rest is not sent: each would be waited for."""
        keys = _batch([one.key for one in self.left])
        some, self.left = self.left[: len(keys)], self.left[len(keys) :]
        try:
            fresh = {one.key: one for one in self._effects(client, keys)}
            changes = [one for one in fresh.values() if one.is_change]
            self.record.add([row_of(one) for one in changes])
        except TrancheError as error:
            self.outcomes += [Outcome(one, f"{with_full_stop(error.reason)} Not sent.") for one in some]
            self.phase = "done"
            return
        results = _send_batch(client, changes)
        for one in some:
            result = results.get(one.key) or Outcome(one, fresh[one.key].refused)
            self.outcomes.append(Outcome(one, result.reason, result.is_open))
        drop(self.record, [key for key, one in results.items() if one.reason and not one.is_open])
        self.same |= {key for key, one in fresh.items() if not one.is_change and not one.refused}
        self.note([one.effect.key for one in self.outcomes[-len(some) :] if not one.reason])
        if not self.left or any(one.is_open for one in results.values()):
            self.phase = "done"

    def _effects(self, client: Deals, keys: Sequence[Key]) -> list[Effect]:
        """What becomes of these, as they are now: a batch of one kind of entity."""
        found = client.get_many(keys[0][0], [number for _, number in keys], with_etags=self.has_lists(keys))
        return [
            self.effect(found[key[1]], key)
            if key[1] in found
            else self._refusal(key, "It is not there any more, or you can't see it.")
            for key in keys
        ]

    def _refusal(self, key: Key, reason: str) -> Effect:
        return Effect(key, self.name(key), frozenset({key}), refused=reason)


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


def is_so(found: PackageOrDeal, fields: Mapping[str, Any]) -> bool:
    """Whether an entity has these values, as a request carries them."""
    there = edits.of(found)
    return all(name in there and there[name] == value for name, value in fields.items())


def send(client: Deals, effect: Effect) -> Outcome:
    """One change, unless the entity changed since it was read."""
    try:
        client.change(*effect.key, effect.after, effect.etag)
    except TrancheError as error:
        may = MAY_BE if is_open(error) else ""
        return Outcome(effect, f"{with_full_stop(error.reason)}{may}", is_open(error))
    return Outcome(effect)


def _send_batch(client: Deals, changes: Sequence[Effect]) -> dict[Key, Outcome]:
    """Send a batch of one kind: one by one those with an ETag, the others at once."""
    found = {one.key: send(client, one) for one in changes if one.etag}
    others = {one.key[1]: one.after for one in changes if not one.etag}
    refused: dict[int, str] = {}
    is_unknown = False
    try:
        refused = client.change_each(changes[0].key[0], others) if others else {}
    except TrancheError as error:
        is_unknown = is_open(error)
        refused = dict.fromkeys(others, f"{with_full_stop(error.reason)}{MAY_BE if is_unknown else ''}")
    for one in changes:
        if not one.etag:
            reason = refused.get(one.key[1], "")
            found[one.key] = Outcome(one, reason and with_full_stop(reason), is_unknown)
    return found


def _batch(keys: Sequence[Key]) -> list[Key]:
    """The first ones that are of one kind."""
    return [key for key in keys[:TOGETHER] if key[0] == keys[0][0]]


def with_full_stop(sentence: str) -> str:
    """The sentence with one full stop."""
    return f"{sentence.rstrip('.')}."
