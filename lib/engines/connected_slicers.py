"""Lazy loader for connected slicers: nothing of it is loaded where there are none."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from lib.slicers.definition import Definition
from lib.slicers.warehouse import StoredSlicer
from lib.wire.deadline import Deadline

if TYPE_CHECKING:
    from lib.engines.connected import IbisEngine, LiveSlicers


class ConnectedSlicers:
    """Slicers whose rows lie in the databases of these connections (name → URL)."""

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = urls

    def current(self, slicer: StoredSlicer) -> StoredSlicer:
        """The slicer as it is now, with the days of its table."""
        return self.live.current(slicer)

    def reach(self, connection: str, deadline: Deadline) -> None:
        """Ask the database of a connection for nothing; raises an error that says what is wrong."""
        self.live.reach(connection, deadline)

    def check(self, definition: Definition, deadline: Deadline) -> None:
        """Whether a definition fits its table: BadDefinition, BadRequest without one, errors of `reach`."""
        self.live.check(definition, deadline)

    @cached_property
    def live(self) -> "LiveSlicers":
        """The metadata of connected slicers."""
        from lib.engines.connected import Connections, LiveSlicers

        return LiveSlicers(Connections(self._urls))

    @cached_property
    def engine(self) -> "IbisEngine":
        """The engine that answers questions about them."""
        from lib.engines.connected import IbisEngine

        return IbisEngine(self.live)
