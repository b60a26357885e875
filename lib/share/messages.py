"""Messages that wait to be sent, to the webhook or the mail server: by one desk, and at least once."""

import logging
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import ColumnElement, Table, delete, or_, select, update

from lib import database
from lib.database import DatabaseScope, from_row
from lib.serving import connect
from lib.settings import Settings

CLAIM = timedelta(minutes=5)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Message:
    """A row of a table of messages, and how often it was tried; a column `due` says when it is next."""

    id: int
    attempts: int


Row = TypeVar("Row", bound=Message)


@dataclass(frozen=True)
class MessageQueue(DatabaseScope, Generic[Row]):
    """The messages of a table, read `most` at a time; what fails waits as long as its pause of `pauses`."""

    table: ClassVar[Table]
    shape: ClassVar[type[Any]]
    most: ClassVar[int]
    pauses: ClassVar[tuple[timedelta, ...]]

    def waiting(self, now: datetime) -> list[Row]:
        """Messages that are due, the oldest first."""
        query = select(self.table).where(self._is_due(now)).order_by(self.table.c.id).limit(self.most)
        return [from_row(self.shape, row) for row in self.rows(query)]

    def claim_due(self, now: datetime) -> Iterator[Row]:
        """Claim each message that is due, before it is sent; what was sent is forgotten or put off."""
        while messages := self.waiting(now):
            yield from (message for message in messages if self.claim(message, now))

    def claim(self, message: Row, now: datetime) -> bool:
        """Claim a due message, so that no other desk sends it meanwhile; False if another has claimed it.

        One whose process ends while sending is sent again: at least once.
        """
        mine = self.table.c.id == message.id, self._is_due(now)
        with self.write() as connection:
            change = update(self.table).where(*mine).values(due=now + CLAIM)
            return connection.execute(change).rowcount == 1

    def forget(self, message: Row) -> None:
        """Forget a message: it arrived, or is given up."""
        self.execute(delete(self.table).where(self.table.c.id == message.id))

    def put_off(self, message: Row, now: datetime, problem: str, is_final: bool = False) -> None:
        """Try again after its pause; after the last one, or a final failure, forget it."""
        if is_final or message.attempts >= len(self.pauses):
            log.error("%s; message %d is given up", problem, message.id)
            self.forget(message)
            return
        log.warning("%s; message %d is tried again later", problem, message.id)
        values = {"attempts": message.attempts + 1, "due": now + self.pauses[message.attempts]}
        self.execute(update(self.table).where(self.table.c.id == message.id).values(values))

    def _is_due(self, now: datetime) -> ColumnElement[bool]:
        """Whether its time has come, or was set before the clock was set back: no pause is that long."""
        due = self.table.c.due
        return or_(due <= now, due > now + self.pauses[-1])


def background(
    settings: Settings, work: str, failure: str, start: Callable[[], AbstractContextManager[database.Look]]
) -> AbstractContextManager[None]:
    """Look every ten seconds during the block, where no other desk over this reporting service does."""
    name = work_of(settings, work)
    return database.background(
        name, failure, lambda: connect.installation(settings).access.store.engine, start
    )


def work_of(settings: Settings, work: str) -> str:
    """The name of this work among processes: of all desks over a reporting service one does it."""
    service = settings.remote.base_url
    return f"{work}-{zlib.crc32(service.encode()):x}" if service else work
