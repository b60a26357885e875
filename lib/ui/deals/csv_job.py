"""Creating the deals or packages of a CSV: all of them, or none.

The API creates them one by one, a package before its deals. So what was created is deleted again if a later
one is refused; if a request is left without an answer, the same file goes on with the same keys, so that
nothing is created twice.
"""

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lib.deals.client import Deals
from lib.deals.models import DemandDeal, SupplyPackage
from lib.ui.frame.problems import is_open
from lib.wire.errors import NotFound, TrancheError

State = Literal["ready", "done", "undone", "open", "left"]


class CsvWanted(Protocol):
    """What a line asks for."""

    @property
    def line(self) -> int:
        """The line that it begins in."""
        ...

    @property
    def request(self) -> DemandDeal | SupplyPackage:
        """What is created."""
        ...

    def sent(self, packages: Mapping[int, int]) -> DemandDeal | SupplyPackage:
        """What is sent, once these packages were created: line → id."""
        ...


@dataclass
class CsvJob:
    """The creation as far as it has come.

    `state`: nothing is created (`ready`, `undone`), all are (`done`), it is unknown of one and can go on
    (`open`), or some are there that could not be deleted again (`left`); `reason` says why.
    """

    wanted: Sequence[CsvWanted]
    state: State = "ready"
    reason: str = ""
    made: list[DemandDeal | SupplyPackage] = field(default_factory=list)
    key: str = field(default_factory=lambda: str(uuid.uuid4()))

    def run(self, client: Deals) -> None:
        """Create those that are not there yet. It never touches the screen, so that no run breaks it off."""
        if self.state in ("done", "left"):
            return
        for one in self.wanted[len(self.made) :]:
            try:
                request = one.sent(self._packages())
                made = client.create(request.entity, request, f"{self.key}-{request.entity}-{one.line}")
                self.made.append(made)
            except TrancheError as error:
                self.reason = f"Line {one.line}: {error.reason.rstrip('.')}."
                if not is_open(error):
                    self._undo(client)
                elif client.abilities.repeats:
                    self.state = "open"
                else:
                    self.state = "left"
                    self.reason += " It may have been created; the lines after it were not sent."
                return
        self.state, self.reason = "done", ""

    def _packages(self) -> dict[int, int]:
        """The ids of the packages that were created, by their lines."""
        pairs = zip(self.wanted, self.made, strict=False)
        return {one.line: made.id for one, made in pairs if isinstance(made, SupplyPackage) and made.id}

    def _undo(self, client: Deals) -> None:
        """Delete what was created, the last first; a next try starts over, with a key of its own."""
        while self.made:
            try:
                with suppress(NotFound):  # somebody else deleted it
                    client.remove(self.made[-1].entity, self.made[-1].id or 0)
            except TrancheError as error:
                self.state = "left"
                self.reason += f" What was created before could not be deleted: {error.reason.rstrip('.')}."
                return
            self.made.pop()
        self.state, self.key = "undone", str(uuid.uuid4())
