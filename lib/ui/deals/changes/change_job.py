"""A change of several packages or deals on its way: read for the preview, then sent in batches."""

import logging
import time
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, ClassVar, Literal

from lib.deals.bulk_actions import ActionRecord, ActionRow
from lib.deals.client import Deals
from lib.deals.models import PackageOrDeal
from lib.ui.deals.drawer import edits
from lib.ui.deals.list.deal_rows import Key
from lib.ui.kit import amounts
from lib.ui.kit.job import STEP_SECONDS, Job
from lib.ui.kit.problems import is_open
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
MAY_BE, PRICE = " It may have been saved.", "price"
Phase = Literal["form", "reading", "preview", "writing", "done"]


@dataclass(frozen=True)
class Effect:
    """The effect of a change on one entity: its fields before and after, or why it is refused.

    `rows` are the chosen rows that it is about, itself if none are given: a package's dates change for each
    of its chosen deals. `others` are the deals, by id, that change with it and were not chosen; `also` notes.
    """

    key: Key
    name: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    etag: str | None = None
    refusal: str = ""
    also: str = ""
    rows: frozenset[Key] = frozenset()
    others: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", self.rows or frozenset({self.key}))

    @property
    def is_change(self) -> bool:
        """Whether there is anything to send."""
        return not self.refusal and bool(self.after)

    @property
    def doubt(self) -> str:
        """Why its price has to be confirmed; empty for a usual one."""
        return amounts.doubt(self.after[PRICE]) if self.is_change and PRICE in self.after else ""

    @property
    def row(self) -> ActionRow:
        """What is recorded of it for Undo."""
        return ActionRow(
            self.key, self.name, {name: self.before.get(name) for name in self.after}, self.after
        )


@dataclass(frozen=True)
class Outcome:
    """The result of one change: saved, or why not. `is_open`: it may have been saved."""

    effect: Effect
    reason: str = ""
    is_open: bool = False

    @classmethod
    def of(cls, effect: Effect, error: TrancheError) -> "Outcome":
        """That it failed so."""
        return cls(effect, reason_of(error), is_open(error))


@dataclass(kw_only=True)
class ChangeJob(Job):
    """A change of several as far as it has come: a form, the entities read, a preview, then it is sent.

    It reads and sends them one by one, and sends only what has not changed since the preview. `to_read` maps
    what is still to be read to the rows that it is read for; a second preview leaves the `saved_keys` out;
    `attempts` is what was sent without an answer, by key; `same` are those that needed no change when they
    were to be sent. `record` is what its Undo works from.
    """

    batch_size: ClassVar[int] = 50
    stops_at_refusal: ClassVar[bool] = False
    record: ActionRecord
    phase: Phase = "form"
    to_read: dict[Key, set[Key]] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    to_send: list[Effect] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    saved_keys: set[Key] = field(default_factory=set)
    attempts: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    same: set[Key] = field(default_factory=set)

    @abstractmethod
    def plan(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity that was read for these rows."""

    @abstractmethod
    def name(self, key: Key) -> str:
        """What an entity is called that could not be read."""

    def begin(self, rows: Iterable[Key]) -> None:
        """Read these rows, and what the change concerns, from now on."""
        self.effects, self.outcomes, self.to_send = [], [], []
        self.to_read = {key: {key} for key in rows}
        self.phase = "reading"

    def read(self, client: Deals) -> None:
        """Read the next one; the preview is complete when nothing is left to read."""
        if self.to_read:
            key = next(iter(self.to_read))
            rows = frozenset(self.to_read[key])
            try:
                self.plan(client.get(*key), key, rows)
            except TrancheError as error:
                self.effects.append(
                    Effect(key, self.name(key), refusal=with_full_stop(error.reason), rows=rows)
                )
            del self.to_read[key]
        self.phase = "reading" if self.to_read else "preview"

    def start(self) -> None:
        """Send what the preview shows, from now on; the second click of a double click does nothing."""
        if self.phase == "preview":
            self.to_send = [one for one in self.effects if one.is_change]
            self.phase = "writing" if self.to_send else "done"

    def write(self, client: Deals) -> None:
        """Send a batch of one kind. Without an answer the rest is not sent: each would be waited for.

        Each is recorded before it is sent, and none is sent that can't be.
        """
        batch = _batch(self.to_send, self.batch_size)
        try:
            effects = self.renew(client, batch)
            self.record.add([one.row for one in effects if one.is_change])
        except TrancheError as error:
            self.outcomes += [Outcome(one, f"{with_full_stop(error.reason)} Not sent.") for one in batch]
            self.to_send, self.phase = self.to_send[len(batch) :], "done"
            return
        outcomes = [*self.send(client, effects)]
        self.outcomes += outcomes
        self.to_send = self.to_send[len(outcomes) :]
        keys = [one.effect.key for one in outcomes if one.reason and not one.is_open]
        drop(self.record, [*keys, *(one.key for one in effects[len(outcomes) :])])
        self.note(outcomes)
        is_over = any(one.is_open or (one.reason and self.stops_at_refusal) for one in outcomes)
        self.phase = "done" if is_over or not self.to_send else self.phase

    def renew(self, client: Deals, batch: Sequence[Effect]) -> Sequence[Effect]:
        """What becomes of these now, just before they are sent: what the preview shows."""
        return batch

    def send(self, client: Deals, effects: Sequence[Effect]) -> Iterator[Outcome]:
        """Send these, as far as it goes in STEP_SECONDS."""
        ends = time.monotonic() + STEP_SECONDS
        for one in effects:
            outcome = send_one(client, one)
            yield outcome
            if outcome.is_open or time.monotonic() >= ends:
                return

    def note(self, outcomes: Sequence[Outcome]) -> None:
        """Note what a batch has changed."""
        for one in outcomes:
            if one.is_open:
                self.attempts[one.effect.key] = one.effect.after
            elif not one.reason:
                (self.saved_keys if one.effect.is_change else self.same).add(one.effect.key)

    def step(self, client: Deals) -> None:
        """Read or send some more."""
        ends, go = time.monotonic() + STEP_SECONDS, self.read if self.phase == "reading" else self.write
        phase = self.phase
        while self.is_running and self.phase == phase and time.monotonic() < ends:
            go(client)

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
        past, rest = (
            (self.effects, self.to_read) if self.phase == "reading" else (self.outcomes, self.to_send)
        )
        return len(past), len(past) + len(rest)

    @property
    def failures(self) -> list[Outcome]:
        """Changes refused by the preview or by the service."""
        refusals = [Outcome(one, one.refusal) for one in self.effects if one.refusal]
        return [one for one in self.outcomes if one.reason] + refusals

    @property
    def unsaved_rows(self) -> set[Key]:
        """The rows of which something failed or was not sent."""
        return {key for one in [*self.failures, *map(Outcome, self.to_send)] for key in one.effect.rows}

    def add(self, entity: PackageOrDeal, effect: Effect) -> None:
        """Add the effect on an entity, unless it is saved; what a first try saved is no change any more."""
        if effect.key in self.saved_keys:
            return
        attempt = self.attempts.get(effect.key)
        if attempt is not None and _has(entity, attempt):
            self.saved_keys.add(effect.key)
            effect = Effect(
                effect.key, effect.name, effect.before, also="saved by the first try", rows=effect.rows
            )
        self.effects.append(effect)


@dataclass(kw_only=True)
class BatchJob(ChangeJob):
    """A change that reads and sends batches of one kind of entity, and reads each again before it is sent."""

    @abstractmethod
    def effect(self, entity: PackageOrDeal, key: Key) -> Effect:
        """What becomes of an entity as it is now."""

    def has_lists(self, keys: Sequence[Key]) -> bool:
        """Whether a list changes, so that each request has to name the state that it is about."""
        return False

    def plan(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity."""
        self.effects.append(self.effect(entity, key))

    def read(self, client: Deals) -> None:
        """Read a batch; the preview is complete when nothing is left to read."""
        batch = _batch([Effect(key, self.name(key)) for key in self.to_read], self.batch_size)
        try:
            self.effects += self.renew(client, batch)
        except TrancheError as error:
            self.effects += [Effect(one.key, one.name, refusal=with_full_stop(error.reason)) for one in batch]
        for one in batch:
            del self.to_read[one.key]
        self.phase = "reading" if self.to_read else "preview"

    def renew(self, client: Deals, batch: Sequence[Effect]) -> list[Effect]:
        """What becomes of these, as they are now."""
        if not batch:
            return []
        keys = [one.key for one in batch]
        entities = client.get_many(
            keys[0][0], [number for _, number in keys], with_etags=self.has_lists(keys)
        )
        reason = "It is not there any more, or you can't see it."
        return [
            self.effect(entities[one.key[1]], one.key)
            if one.key[1] in entities
            else Effect(one.key, self.name(one.key), refusal=reason)
            for one in batch
        ]

    def send(self, client: Deals, effects: Sequence[Effect]) -> Iterator[Outcome]:
        """Send a batch of one kind: one by one those with an ETag, the others at once."""
        fields = {one.key[1]: one.after for one in effects if one.is_change and not one.etag}
        reasons: dict[int, str] = {}
        is_unknown = False
        try:
            reasons = client.change_each(effects[0].key[0], fields) if fields else {}
        except TrancheError as error:
            is_unknown, reasons = is_open(error), dict.fromkeys(fields, reason_of(error))
        for one in effects:
            if one.is_change and one.etag:
                yield send_one(client, one)
            else:
                reason = reasons.get(one.key[1], "") or one.refusal
                yield Outcome(one, reason and with_full_stop(reason), is_unknown and one.key[1] in fields)


def send_one(client: Deals, effect: Effect) -> Outcome:
    """One change, unless the entity changed since it was read."""
    try:
        client.change(*effect.key, effect.after, effect.etag)
    except TrancheError as error:
        return Outcome.of(effect, error)
    return Outcome(effect)


def drop(record: ActionRecord, keys: Collection[Key]) -> None:
    """Forget these rows; where that fails they stay, and Undo finds them as they were."""
    try:
        record.drop(keys)
    except TrancheError as error:
        log.warning("%d rows that were not changed stay recorded for Undo: %s", len(keys), error.reason)


def reason_of(error: TrancheError) -> str:
    """Why a change failed, and that it may have been saved where that is unknown."""
    return with_full_stop(error.reason) + (MAY_BE if is_open(error) else "")


def with_full_stop(sentence: str) -> str:
    """The sentence with one full stop."""
    return f"{sentence.rstrip('.')}."


def _batch(effects: Sequence[Effect], most: int) -> list[Effect]:
    """The first ones that are of one kind."""
    return [*takewhile(lambda one: one.key[0] == effects[0].key[0], effects[:most])]


def _has(entity: PackageOrDeal, fields: Mapping[str, Any]) -> bool:
    """Whether an entity has these values, as a request carries them."""
    values = edits.of(entity)
    return all(name in values and values[name] == value for name, value in fields.items())
