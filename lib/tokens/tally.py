"""How often callers came to other processes over the same database: what their throttles tell each other."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Engine,
    Index,
    Integer,
    String,
    Table,
    delete,
    insert,
    select,
)

from lib.database import Key, metadata, reading, transact
from lib.wire.deadline import Deadline
from lib.wire.errors import TrancheError
from lib.wire.throttle import WINDOW_SECONDS, Elsewhere

log = logging.getLogger(__name__)
SECONDS = 1

admissions = Table(
    "admissions",
    metadata,
    Column("id", Key, primary_key=True),
    Column("caller", String(100), nullable=False, index=True),
    Column("process", String(32), nullable=False),
    Column("at", Double, nullable=False),
    Column("count", Integer, nullable=False),
    Index(None, "at"),
    sqlite_autoincrement=True,
)


@dataclass(frozen=True)
class Tally:
    """What one throttle of this process shares with those of the same name in others."""

    engine: Engine
    name: str
    clock: Callable[[], float] = time.time
    process: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, caller: object, count: int) -> Elsewhere | None:
        """Add requests that were admitted here; returns those of other processes in the last minute.

        As (seconds ago, requests). None where the database does not answer: nothing was added.
        """
        now, who = self.clock(), f"{self.name} {caller}"

        def others(connection: Connection) -> Elsewhere:
            mine = admissions.c.process == self.process
            wanted = select(admissions.c.at, admissions.c.count).where(admissions.c.caller == who, ~mine)
            recent = connection.execute(wanted.where(admissions.c.at > now - WINDOW_SECONDS))
            return tuple((max(0.0, now - at), times) for at, times in recent)

        def exchanged(connection: Connection) -> Elsewhere:
            row = {"caller": who, "process": self.process, "at": now, "count": count}
            connection.execute(delete(admissions).where(admissions.c.at <= now - WINDOW_SECONDS))
            connection.execute(insert(admissions).values(row))
            return others(connection)

        try:
            ask = transact if count else reading
            return ask(self.engine, exchanged if count else others, Deadline(SECONDS))
        except TrancheError as error:
            log.warning("Requests could not be counted with those of other processes: %s", error.reason)
            return None
