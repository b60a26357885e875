"""Reading a CSV, and creating its deals or packages: all of them or none, step by step on screen.

The desk's own service creates several deals at once; the others are created one by one, a package before its
deals. What was created is deleted again if a later one is refused; if a request is left without an answer,
the same file goes on with the same keys, so that nothing is created twice.
"""

import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.deals.csv.csv_deals import CsvEntry, CsvPlan
from lib.ui.kit.job import STEP_SECONDS, Job, PartsJob
from lib.ui.kit.problems import is_open
from lib.wire.errors import Invalid, NotFound, TrancheError

State = Literal["ready", "writing", "undoing", "done", "undone", "open", "left"]
BATCH_SIZE, FEW = 500, 20


@dataclass
class CsvReading(PartsJob):
    """The lines as far as they are checked: the parts are the plan as it grows."""

    plan: CsvPlan = field(default_factory=CsvPlan)

    def take(self, part: CsvPlan) -> None:
        """Remember the plan."""
        self.plan, self.done = part, part.checked_lines

    def stop(self) -> None:
        """Read no more. A callback."""
        super().stop()
        self.problem = "The file was not read to its end."

    @property
    def verb(self) -> str:
        """What is counted."""
        return "lines checked"


@dataclass
class CsvJob(Job):
    """The creation as far as it has come.

    `state`: nothing is created (`ready`, `undone`), some are and it goes on (`writing`), they are deleted
    again (`undoing`), all are created (`done`), it is unknown of one and can go on (`open`), or some are
    there that could not be deleted again (`left`); `reason` says why.
    """

    entries: Sequence[CsvEntry]
    state: State = "ready"
    reason: str = ""
    entities: list[DemandDeal | SupplyPackage] = field(default_factory=list)
    key: str = field(default_factory=lambda: str(uuid.uuid4()))

    def start(self) -> None:
        """Create those that are not there yet, from now on; a second click does nothing."""
        if self.state in ("ready", "undone", "open"):
            self.state, self.reason = "writing", ""

    def step(self, client: Deals) -> None:
        """Create some more, or delete some of what was created."""
        ends = time.monotonic() + STEP_SECONDS
        while self.is_running and time.monotonic() < ends:
            if self.state == "undoing":
                self._undo(client)
            elif len(self.entities) == len(self.entries):
                self.state = "done"
            else:
                self._create(client)

    def stop(self) -> None:
        """Create no more, and delete what was created. A callback."""
        if self.state == "writing":
            self.state, self.reason = "undoing", "Stopped."

    @property
    def is_running(self) -> bool:
        """Whether something is created or deleted."""
        return self.state in ("writing", "undoing")

    @property
    def has_stop(self) -> bool:
        """Deleting again can't be stopped."""
        return self.state == "writing"

    @property
    def progress(self) -> tuple[int, int]:
        """How many are created, of how many."""
        return len(self.entities), len(self.entries)

    @property
    def verb(self) -> str:
        """What is counted."""
        return "created" if self.state == "writing" else "left to delete"

    def _create(self, client: Deals) -> None:
        """Create the next ones."""
        some = self._together(client)
        key, model = f"{self.key}-{some[0].request.entity}-{some[0].line}", some[0].model(self._packages())
        try:
            if len(some) == 1:
                self.entities.append(client.create(model.entity, model, key))
            else:
                self.entities += client.create_all([one.deal for one in some], key)
        except TrancheError as error:
            self._settle_refusal(client, some, error)

    def _together(self, client: Deals) -> Sequence[CsvEntry]:
        """The entries to create next: several of deals whose packages are there, else one."""
        rest = self.entries[len(self.entities) : len(self.entities) + BATCH_SIZE]
        is_plain = all(one.package is not None for one in rest)
        return rest if client.abilities.is_own and is_plain and len(rest) > FEW else rest[:1]

    def _settle_refusal(self, client: Deals, some: Sequence[CsvEntry], error: TrancheError) -> None:
        """Give up, or wait for a retry. Of several, the error tells which one is wrong."""
        line, reason = some[0].line, error.reason
        if isinstance(error, Invalid) and (place := next(iter(error.fields), "")).isdecimal():
            line, reason = some[int(place)].line, Invalid(error.fields[place]).reason
        self.reason = f"Line {line}: {reason.rstrip('.')}."
        if not is_open(error):
            self.state = "undoing"
        elif client.abilities.repeats:
            self.state = "open"
        else:
            self.state = "left"
            self.reason += " It may have been created; the lines after it were not sent."

    def _packages(self) -> dict[int, int]:
        """The ids of the packages that were created, by their lines."""
        if not isinstance(self.entries[0].request, SupplyPackage):
            return {}
        pairs = zip(self.entries, self.entities, strict=False)
        return {
            one.line: package.id
            for one, package in pairs
            if isinstance(package, SupplyPackage) and package.id
        }

    def _undo(self, client: Deals) -> None:
        """Delete the last that was created; a next try starts over, with a key of its own."""
        if not self.entities:
            self.state, self.key = "undone", str(uuid.uuid4())
            return
        try:
            with suppress(NotFound):  # somebody else deleted it
                client.remove(self.entities[-1].entity, self.entities[-1].id or 0)
        except TrancheError as error:
            self.state = "left"
            self.reason += f" What was created before could not be deleted: {error.reason.rstrip('.')}."
            return
        self.entities.pop()
