"""The slicers that this installation had when its warehouse was last looked at, in the database.

They tell a warehouse that vanished (a disk that is not mounted, a folder that was moved) from a new one.
"""

from collections.abc import Collection

from sqlalchemy import Engine, String, Table, delete, insert, select

from lib.database import DatabaseScope, keys, metadata

Pair = tuple[str, str]
known_slicers = Table("known_slicers", metadata, *keys(project=String(200), slicer=String(200)))


class KnownSlicers:
    """Project and name of each."""

    def __init__(self, engine: Engine) -> None:
        self._scope, self._noted = DatabaseScope(engine), frozenset[Pair]()

    def read(self) -> list[Pair]:
        """They, sorted."""
        return sorted((row.project, row.slicer) for row in self._scope.rows(select(known_slicers)))

    def note(self, slicers: Collection[Pair]) -> None:
        """Make these the known ones. None at all are no reason to forget those that were."""
        if not slicers or self._noted == frozenset(slicers):
            return
        if self.read() != sorted(slicers):
            with self._scope.write() as connection:
                connection.execute(delete(known_slicers))
                rows = [{"project": project, "slicer": slicer} for project, slicer in slicers]
                connection.execute(insert(known_slicers), rows)
        self._noted = frozenset(slicers)
