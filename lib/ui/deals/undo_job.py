"""The undo of an action on several: what is still as the action left it goes back to what it was before."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lib.deals import moments
from lib.deals.bulk_actions import ActionRow, BulkAction, BulkActions
from lib.deals.client import Deals, sent
from lib.ui.deals import edits, facts
from lib.ui.deals.planned_job import (
    MAY_BE,
    STEP_SECONDS,
    TOGETHER,
    Outcome,
    PlannedJob,
    Sold,
    drop,
    ended,
    row_of,
    send,
)
from lib.ui.deals.rows import KINDS, Key
from lib.ui.deals.several_change import Effect
from lib.ui.kit.problems import is_open
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
UNDO, REDO = "Undo: ", "Redo: "


@dataclass(kw_only=True)
class UndoJob(PlannedJob):
    """The undo of `action` as far as it has come; `stored` are its rows that are not undone yet.

    It reads and sends batches, and reads each batch again before it is sent. What was undone is noted with
    each, so that another undo goes on where this one stopped. It is an action itself, with an undo.
    """

    actions: BulkActions
    action: BulkAction
    stored: Mapping[Key, ActionRow]

    @classmethod
    def of(cls, actions: BulkActions, action: BulkAction) -> "UndoJob":
        """The undo of this action, whose rows are read next. BadRequest if it can't be undone any more."""
        stored = {row.key: row for row in actions.rows(action.number)}
        job = cls(record=actions.record(title(action)), actions=actions, action=action, stored=stored)
        job.begin(stored)
        return job

    def planned(self, found: Sold, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of an entity."""
        self.effects.append(effect(found, self.stored[key]))

    def name(self, key: Key) -> str:
        """What it was called when the action touched it."""
        return self.stored[key].name

    def read(self, client: Deals) -> None:
        """Read some more; the preview is complete when nothing is left to read."""
        ends = time.monotonic() + STEP_SECONDS
        while self.to_read and time.monotonic() < ends:
            keys = _batch([*self.to_read])
            try:
                self.effects += self._effects(client, keys)
            except TrancheError as error:
                self.effects += [self._refused(key, ended(error.reason)) for key in keys]
            for key in keys:
                del self.to_read[key]
        if not self.to_read:
            self.phase = "preview"

    def write(self, client: Deals) -> None:
        """Put a batch back. Without an answer the rest is not sent."""
        keys = _batch([one.key for one in self.left])
        some, self.left = self.left[: len(keys)], self.left[len(keys) :]
        try:
            fresh = {one.key: one for one in self._effects(client, keys)}
            changes = [one for one in fresh.values() if one.is_change]
            self.record.add([row_of(one) for one in changes])
        except TrancheError as error:
            self.outcomes += [Outcome(one, f"{ended(error.reason)} Not sent.") for one in some]
            self.phase = "done"
            return
        results = _put_back(client, changes)
        for one in some:
            result = results.get(one.key) or Outcome(one, fresh[one.key].refused)
            self.outcomes.append(Outcome(one, result.reason, result.is_open))
        drop(self.record, [key for key, one in results.items() if one.reason and not one.is_open])
        self._note([one.effect.key for one in self.outcomes[-len(some) :] if not one.reason])
        if not self.left or any(one.is_open for one in results.values()):
            self.phase = "done"

    def _effects(self, client: Deals, keys: Sequence[Key]) -> list[Effect]:
        """What becomes of these, as they are now: a batch of one kind of entity."""
        has_lists = any(isinstance(value, list) for key in keys for value in self.stored[key].after.values())
        found = client.get_many(keys[0][0], [number for _, number in keys], with_etags=has_lists)
        return [
            effect(found[key[1]], self.stored[key])
            if key[1] in found
            else self._refused(key, "It is not there any more, or you can't see it.")
            for key in keys
        ]

    def _refused(self, key: Key, reason: str) -> Effect:
        return Effect(key, self.name(key), frozenset({key}), refused=reason)

    def _note(self, keys: list[Key]) -> None:
        """Note what is as it was before; where that fails, another undo finds it so."""
        same = [one.key for one in self.effects if not one.is_change and not one.refused]
        try:
            self.actions.mark_undone(self.action.number, [*keys, *same])
        except TrancheError as error:
            log.warning("%d rows that were put back stay listed for Undo: %s", len(keys), error.reason)


def title(action: BulkAction) -> str:
    """What the undo of an action is called; that of an undo does the action again."""
    if action.title.startswith(UNDO):
        return f"{REDO}{action.title.removeprefix(UNDO)}"
    return f"{UNDO}{action.title.removeprefix(REDO)}"


def effect(found: Sold, row: ActionRow) -> Effect:
    """The way back of an entity, field by field; refused if somebody has changed one of them since."""
    now = {name: sent(value) for name, value in edits.of(found).items() if name in row.after}
    name = found.name or f"{KINDS[row.key[0]]} {row.key[1]}"
    gone = [facts.title(one) for one in row.after if one not in now]
    others = [
        f"{facts.title(one)} now {facts.value(one, value)}, "
        f"set to {facts.value(one, row.after[one])} by the action"
        for one, value in now.items()
        if not _same(value, row.after[one]) and not _same(value, row.before[one])
    ]
    why = f"{', '.join(gone)} can't be read. It stays." if gone else ""
    why = why or (f"Changed since: {'; '.join(others)}. It stays." if others else "")
    back = {one: row.before[one] for one, value in now.items() if not _same(value, row.before[one])}
    also = "" if back or why else "It is as it was before."
    return Effect(row.key, name, frozenset({row.key}), now, {} if why else back, found.etag, why, also)


def _put_back(client: Deals, changes: Sequence[Effect]) -> dict[Key, Outcome]:
    """Send a batch of one kind: one by one those with an ETag, the others at once."""
    found = {one.key: send(client, one) for one in changes if one.etag}
    others = {one.key[1]: one.after for one in changes if not one.etag}
    refused: dict[int, str] = {}
    is_unknown = False
    try:
        refused = client.change_each(changes[0].key[0], others) if others else {}
    except TrancheError as error:
        is_unknown = is_open(error)
        refused = dict.fromkeys(others, f"{ended(error.reason)}{MAY_BE if is_unknown else ''}")
    for one in changes:
        if not one.etag:
            reason = refused.get(one.key[1], "")
            found[one.key] = Outcome(one, reason and ended(reason), is_unknown)
    return found


def _batch(keys: Sequence[Key]) -> list[Key]:
    """The first ones that are of one kind."""
    return [key for key in keys[:TOGETHER] if key[0] == keys[0][0]]


def _same(one: Any, other: Any) -> bool:
    """Whether two values of requests are equal: of times, the instants; empty text and None are the same."""
    if isinstance(one, str) and isinstance(other, str) and one != other:
        try:
            return moments.read(one) == moments.read(other)
        except ValueError:
            return False
    return one == other or (one in (None, "") and other in (None, ""))
