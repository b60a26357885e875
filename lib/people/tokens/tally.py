"""What processes over one database count together: requests, the use of a rate, and what is open.

Each count is a row of the last minute, so that those of a process that ended are soon gone.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import uuid4

import sqlalchemy as sa

from lib.database import DatabaseScope, numbered_table, required
from lib.wire.errors import TrancheError
from lib.wire.throttle import WINDOW_SECONDS, OtherCounts

log = logging.getLogger(__name__)
SECONDS = 1
Result = TypeVar("Result")

admissions = numbered_table(
    "admissions", sa.Column("caller", sa.String(100), nullable=False, index=True),
    *required(process=sa.String(32), at=sa.Double, count=sa.Integer), sa.Index(None, "at"),
)  # fmt: skip


@dataclass(frozen=True)
class Tally:
    """What this process shares with others under a name. Where the database does not answer, all give None:
    nothing was added."""

    engine: sa.Engine
    name: str
    clock: Callable[[], float] = time.time
    process: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, caller: object, count: int) -> OtherCounts | None:
        """Add requests that were admitted here; returns those of other processes in the last minute.

        As (seconds ago, requests).
        """
        now, who = self.clock(), f"{self.name} {caller}"

        def others(connection: sa.Connection) -> OtherCounts:
            if count:
                connection.execute(sa.insert(admissions).values(self._row(who, now, count)))
            mine = admissions.c.process == self.process
            query = sa.select(admissions.c.at, admissions.c.count).where(admissions.c.caller == who, ~mine)
            recent = connection.execute(query.where(admissions.c.at > now - WINDOW_SECONDS))
            return tuple((max(0.0, now - at), times) for at, times in recent)

        return self._exchange(others, now, writes=count > 0)

    def use(self, caller: str, seconds: float) -> float | None:
        """Use a caller's rate for some seconds; returns how long all uses of it last, one after another."""
        now, who = self.clock(), f"{self.name} {caller}"

        def extend(connection: sa.Connection) -> float:
            same = admissions.c.caller == who
            until = connection.execute(sa.select(sa.func.max(admissions.c.at)).where(same)).scalar() or now
            end = max(until, now) + seconds
            connection.execute(sa.delete(admissions).where(same))
            connection.execute(sa.insert(admissions).values(self._row(who, end, 0)))
            return end - now

        return self._exchange(extend, now)

    def hold(self, counts: Mapping[str, int]) -> Counter[str] | None:
        """Say what is open here, by caller, in place of what was said before; returns what is open elsewhere.

        It counts for a minute: say it more often.
        """
        now, mine = self.clock(), admissions.c.process == self.process

        def replace(connection: sa.Connection) -> Counter[str]:
            of_name = admissions.c.caller.startswith(f"{self.name} ", autoescape=True)
            connection.execute(sa.delete(admissions).where(of_name, mine))
            if rows := [self._row(f"{self.name} {caller}", now, count) for caller, count in counts.items()]:
                connection.execute(sa.insert(admissions), rows)
            others = Counter[str]()
            query = sa.select(admissions.c.caller, admissions.c.count).where(of_name, ~mine)
            for caller, count in connection.execute(query):
                others[caller.removeprefix(f"{self.name} ")] += count
            return others

        return self._exchange(replace, now)

    def _row(self, caller: str, at: float, count: int) -> dict[str, str | float]:
        return {"caller": caller, "process": self.process, "at": at, "count": count}

    def _exchange(
        self, work: Callable[[sa.Connection], Result], now: float, *, writes: bool = True
    ) -> Result | None:
        scope = DatabaseScope(self.engine)
        try:
            if not writes:
                return scope.read(work, SECONDS)
            with scope.write(SECONDS) as connection:
                connection.execute(sa.delete(admissions).where(admissions.c.at <= now - WINDOW_SECONDS))
                return work(connection)
        except TrancheError as error:
            log.warning("What is counted could not be shared with other processes: %s", error.reason)
            return None
