"""The plan of a change: what a source asks for is read, previewed, questioned, applied, and can be undone.

Everything that changes several packages and deals is a source of such a plan: prices, dates, terms and
targeting of several, pause and resume, a CSV, the removal of dead targets, and Undo itself.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from lib.deals.bulk_actions import ActionRecord, ActionRow
from lib.deals.client import Deals
from lib.deals.models import PackageOrDeal
from lib.figures.deals.deal_names import KINDS
from lib.figures.error_text import is_open
from lib.ui.deals.deal_rows import Key
from lib.ui.kit.job import STEP_SECONDS, Job
from lib.wire.errors import NotFound, TrancheError

log = logging.getLogger(__name__)
GONE = "It is not there any more, or you can't see it."
Phase = Literal["form", "reading", "preview", "writing", "undoing", "done"]


@dataclass(frozen=True)
class PlannedChange:
    """A change of one entity: its fields before and after, or the `refusal`, why it can't be made.

    One that `is_removal` deletes the entity: the way back of a creation.

    `rows` are the chosen rows that it is about, itself if none are given: a package's dates change for each
    of its chosen deals. `others` are the deals, by id, that change with it and were not chosen.
    """

    key: Key
    name: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    etag: str | None = None
    refusal: str = ""
    note: str = ""
    rows: frozenset[Key] = frozenset()
    others: Mapping[int, str] = field(default_factory=dict)
    is_removal: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", self.rows or frozenset({self.key}))

    @property
    def is_change(self) -> bool:
        return not self.refusal and (bool(self.after) or self.is_removal)

    @property
    def label(self) -> str:
        return self.name

    @property
    def action_row(self) -> ActionRow:
        """What is recorded of it for Undo: the fields that change, and the currency that a price is in."""
        unit = (
            {"currency": self.before["currency"]}
            if "price" in self.after and "currency" in self.before
            else {}
        )
        after = {**unit, **self.after}
        return ActionRow(self.key, self.name, {name: self.before.get(name) for name in after}, after)


@dataclass(frozen=True)
class Outcome:
    """The result of one change: saved, or why not. `is_open`: it may have been saved."""

    change: PlannedChange
    reason: str = ""
    is_open: bool = False

    @classmethod
    def of(cls, change: PlannedChange, error: TrancheError) -> "Outcome":
        return cls(change, reason_of(error), is_open(error))


@dataclass(kw_only=True)
class ChangeSource(ABC):
    """What somebody asks for.

    `names` are those of entities on screen. `to_read` maps what is still to be read to the rows that it is
    read for; `count` entities are read.

    With `is_whole` one refusal keeps all from being saved, and each batch is saved whole or not at all. With
    `is_renewed` entities are read again just before they are sent, instead of being sent with the ETag of the
    preview: what others change in their other fields meanwhile is no reason to refuse. With `is_asked` what
    is unusual has to be confirmed; nothing is asked about what goes back to what it was.
    """

    is_whole: ClassVar[bool] = False
    is_renewed: ClassVar[bool] = False
    is_asked: ClassVar[bool] = True
    batch_size: ClassVar[int] = 50
    names: Mapping[Key, str] = field(default_factory=dict)
    to_read: dict[Key, set[Key]] = field(default_factory=dict)
    count: int = 0

    @abstractmethod
    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        """What becomes of an entity that was read for these rows; may add to what is to be read."""

    def missing(self, key: Key, rows: frozenset[Key]) -> PlannedChange:
        """What becomes of an entity that is not there any more: it is refused."""
        return PlannedChange(key, self.name(key), refusal=GONE, rows=rows)

    @property
    def is_read(self) -> bool:
        return not self.to_read

    @property
    def progress(self) -> tuple[int, int]:
        """How many are read, of how many."""
        return self.count, self.count + len(self.to_read)

    def name(self, key: Key) -> str:
        """What an entity is called that could not be read: as the list has it."""
        return self.names.get(key) or f"{KINDS[key[0]]} {key[1]}"

    def settle(self, keys: Collection[Key]) -> None:
        """Note that these are as they were asked for. Nothing by default."""
        return

    def has_lists(self, keys: Sequence[Key]) -> bool:
        """Whether lists of these change, so that each request has to name the state that it is about."""
        return False

    def ask(self, rows: Iterable[Key]) -> None:
        """Ask for the change of these rows, which are read next."""
        self.to_read, self.count = {key: {key} for key in rows}, 0

    def read(self, client: Deals) -> list[PlannedChange]:
        """The changes of the next batch; where it can't be read, why."""
        rows_of_key = {key: frozenset(rows) for key, rows in self.to_read.items()}
        # One by one where a failure would be that of all.
        most = self.batch_size if self.is_renewed or client.abilities.is_own else 1
        kind = next(iter(rows_of_key))[0]
        keys = [*takewhile(lambda key: key[0] == kind, [*rows_of_key][:most])]
        try:
            changes = self.renew(client, keys, rows_of_key)
        except TrancheError as error:
            reason = error.sentence
            changes = [
                PlannedChange(key, self.name(key), refusal=reason, rows=rows_of_key[key]) for key in keys
            ]
        for key in keys:
            del self.to_read[key]
        self.count += len(keys)
        return changes

    def renew(
        self, client: Deals, keys: Sequence[Key], rows: Mapping[Key, frozenset[Key]] | None = None
    ) -> list[PlannedChange]:
        """What becomes of these entities of one kind, as they are now."""
        if not keys:
            return []
        rows = rows or {}
        has_etags = not self.is_renewed or self.has_lists(keys)
        ids = [number for _, number in keys]
        entities = client.get_many(keys[0][0], ids, with_etags=has_etags)
        return [
            change
            for key in keys
            for change in (
                self.changes(entities[key[1]], key, rows.get(key, frozenset()))
                if key[1] in entities
                else [self.missing(key, rows.get(key, frozenset()))]
            )
        ]


@dataclass(kw_only=True)
class WholeSource(ChangeSource):
    """What somebody asks for all at once, and all or none: its `read` says so until it `is_over`, and returns
    the changes with the last part."""

    is_whole: ClassVar[bool] = True
    is_over: bool = False

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        return ()

    @property
    def is_read(self) -> bool:
        return self.is_over


Source = TypeVar("Source", bound=ChangeSource)


@dataclass(kw_only=True)
class ChangePlan(Job, Generic[Source]):
    """A change as far as it has come; `record` is what its Undo works from.

    A second preview leaves the `saved_keys` out; `attempts` is what was sent without an answer, by key;
    `same` are those that needed no change when they were to be sent. `problem` is why it went back to its
    preview, `questions` are those of the preview (confirmations.Questions), once it is drawn.
    """

    source: Source
    record: ActionRecord
    phase: Phase = "form"
    changes: list[PlannedChange] = field(default_factory=list)
    to_send: list[PlannedChange] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    saved_keys: set[Key] = field(default_factory=set)
    attempts: dict[Key, Mapping[str, Any]] = field(default_factory=dict)
    same: set[Key] = field(default_factory=set)
    problem: str = ""
    questions: Any = None

    def begin(self) -> Self:
        """Read what the source asks for, from now on; returns the plan."""
        self.changes, self.outcomes, self.to_send = [], [], []
        self.phase, self.problem, self.questions = "reading", "", None
        return self

    def start(self) -> None:
        """Send what the preview shows, from now on; the second click of a double click does nothing."""
        if self.phase == "preview":
            keys = {outcome.change.key for outcome in self.outcomes}
            self.to_send = [change for change in self.changes if change.is_change and change.key not in keys]
            self.phase, self.problem = "writing" if self.to_send else "done", ""

    def step(self, client: Deals) -> None:
        ends, phase = time.monotonic() + STEP_SECONDS, self.phase
        while self.is_running and self.phase == phase and time.monotonic() < ends:
            self.read(client) if phase == "reading" else self.write(client)

    def read(self, client: Deals) -> None:
        """Read the next ones; the preview is complete when nothing is left to read.

        What is saved is left out; what a first try without an answer saved is no change any more.
        """
        for change in [] if self.source.is_read else self.source.read(client):
            if change.key in self.saved_keys:
                continue
            attempt = self.attempts.get(change.key)
            if attempt is not None and all(change.before.get(name, ...) == attempt[name] for name in attempt):
                self.saved_keys.add(change.key)
                note = "saved by the first try"
                self.changes.append(
                    PlannedChange(change.key, change.name, change.before, note=note, rows=change.rows)
                )
            else:
                self.changes.append(change)
        self.phase = "preview" if self.source.is_read else "reading"

    def write(self, client: Deals) -> None:
        """Send a batch of one kind. Without an answer the rest is not sent: each would be waited for.

        Each is recorded before it is sent, and none is sent that can't be.
        """
        source = self.source
        kind = self.to_send[0].key[0]
        batch = [*takewhile(lambda change: change.key[0] == kind, self.to_send[: source.batch_size])]
        try:
            keys = [change.key for change in batch]
            changes = source.renew(client, keys) if source.is_renewed else batch
            self.record.add(
                [change.action_row for change in changes if change.is_change and not change.is_removal]
            )
        except TrancheError as error:
            reason = f"{error.sentence} Not sent."
            self.outcomes += [Outcome(change, reason) for change in batch]
            self.to_send, self.phase = self.to_send[len(batch) :], "done"
            return
        outcomes = [*(_send_whole if source.is_whole else _send)(client, changes)]
        self.outcomes += outcomes
        self.to_send = self.to_send[len(outcomes) :]
        refused_keys = [outcome.change.key for outcome in outcomes if outcome.reason and not outcome.is_open]
        self._drop([*refused_keys, *(change.key for change in changes[len(outcomes) :])])
        for outcome in outcomes:
            change = outcome.change
            if outcome.is_open:
                self.attempts[change.key] = change.after
            elif not outcome.reason:
                (self.saved_keys if change.is_change else self.same).add(change.key)
        same = [change.key for change in self.changes if not change.is_change and not change.refusal]
        source.settle([*(outcome.change.key for outcome in outcomes if not outcome.reason), *same])
        is_over = any(outcome.is_open or (outcome.reason and source.is_whole) for outcome in outcomes)
        self.phase = "done" if is_over or not self.to_send else self.phase

    def stop(self) -> None:
        """Send no more. A callback."""
        if self.phase == "writing":
            self.phase = "done"

    @property
    def is_running(self) -> bool:
        return self.phase in ("reading", "writing", "undoing")

    @property
    def has_stop(self) -> bool:
        """Only sending can be stopped: what is read changes nothing, and the dialog can be closed."""
        return self.phase == "writing"

    @property
    def verb(self) -> str:
        return "read" if self.phase == "reading" else "sent"

    @property
    def progress(self) -> tuple[int, int]:
        """How many are read or sent, of how many."""
        if self.phase == "reading":
            return self.source.progress
        return len(self.outcomes), len(self.outcomes) + len(self.to_send)

    @property
    def failures(self) -> list[Outcome]:
        """Changes refused by the preview or by the service."""
        refusals = [Outcome(change, change.refusal) for change in self.changes if change.refusal]
        return [outcome for outcome in self.outcomes if outcome.reason] + refusals

    @property
    def unsaved_rows(self) -> set[Key]:
        """The rows of which something failed or was not sent."""
        changes = [*(outcome.change for outcome in self.failures), *self.to_send]
        return {key for change in changes for key in change.rows}

    def _drop(self, keys: Collection[Key]) -> None:
        """Forget these rows; where that fails they stay, and Undo finds them as they were."""
        try:
            self.record.drop(keys)
        except TrancheError as error:
            log.warning("%d rows that were not changed stay recorded for Undo: %s", len(keys), error.reason)


def reason_of(error: TrancheError) -> str:
    """Why a change failed, and that it may have been saved where that is unknown."""
    return error.sentence + (" It may have been saved." if is_open(error) else "")


def with_full_stop(sentence: str) -> str:
    """The sentence with one full stop."""
    return f"{sentence.rstrip('.')}."


def _send(client: Deals, changes: Sequence[PlannedChange]) -> Iterator[Outcome]:
    """Send a batch of one kind, as far as it goes in STEP_SECONDS: alone with an ETag, the others at once."""
    ends = time.monotonic() + STEP_SECONDS
    fields = {
        change.key[1]: change.after
        for change in changes
        if change.is_change and not (change.etag or change.is_removal)
    }
    reasons: dict[int, str] = {}
    is_unknown = False
    try:
        reasons = client.change_each(changes[0].key[0], fields) if fields else {}
    except TrancheError as error:
        is_unknown, reasons = is_open(error), dict.fromkeys(fields, reason_of(error))
    for change in changes:
        if not (change.is_change and (change.etag or change.is_removal)):
            reason = reasons.get(change.key[1], "") or change.refusal
            outcome = Outcome(
                change, reason and with_full_stop(reason), is_unknown and change.key[1] in fields
            )
        else:
            try:
                if change.is_removal:
                    with suppress(NotFound):
                        client.remove(*change.key, change.etag)
                else:
                    client.change(*change.key, change.after, change.etag)
            except TrancheError as error:
                outcome = Outcome.of(change, error)
            else:
                outcome = Outcome(change)
        yield outcome
        is_alone = bool(change.etag) or change.is_removal
        if is_alone and (outcome.is_open or time.monotonic() >= ends):
            return


def _send_whole(client: Deals, changes: Sequence[PlannedChange]) -> Iterator[Outcome]:
    """Send a batch of one kind, all or none."""
    try:
        fields = {change.key[1]: change.after for change in changes}
        etags = {change.key[1]: change.etag or "" for change in changes}
        reasons = client.change_all(changes[0].key[0], fields, etags)
    except TrancheError as error:
        yield from (Outcome.of(change, error) for change in changes)
    else:
        for change in changes:
            reason = reasons.get(change.key[1], "")
            yield Outcome(change, reason and with_full_stop(reason))
