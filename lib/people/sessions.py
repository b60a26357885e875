"""Who is signed in to the desk.

The cookie that a browser keeps is signed, and can't be taken back: it outlives a sign-out and a changed
password. So it opens nothing by itself: each sign-in is noted here, and struck off when it ends.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from lib import private
from lib.people.credentials import People
from lib.people.person import Person


@dataclass(frozen=True, slots=True)
class Session:
    """One sign-in: who, until when (seconds since 1970), and a digest of what their password was then."""

    username: str
    ends: float
    proof: str


class Sessions:
    """The sign-ins of one installation, in a file so that they survive a restart. Safe among threads."""

    def __init__(self, path: Path, people: People, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since 1970."""
        self._path, self._people, self._clock = path, people, clock
        self._lock = threading.Lock()
        self._seen: tuple[object, frozenset[Session]] = (None, frozenset())

    def begin(self, username: str, ends: float) -> None:
        """Note that this person signed in; name and end together are what the cookie tells."""
        session = Session(username, ends, self._proof(username))
        self._change(lambda held: {*(kept for kept in held if kept.ends > self._clock()), session})

    def end(self, username: str, ends: float) -> None:
        """End the sign-in in every tab that shares its cookie."""
        self._change(lambda held: {one for one in held if (one.username, one.ends) != (username, ends)})

    def count(self) -> int:
        """How many sign-ins are not over."""
        return sum(one.ends > self._clock() for one in self._held())

    def person(self, username: str, ends: float) -> Person | None:
        """The person with their current role and grants, if this sign-in is valid.

        It is noted, not over, with the same password, and the person is not locked out.
        """
        if ends <= self._clock() or Session(username, ends, self._proof(username)) not in self._held():
            return None
        person = self._people.get(username)
        return None if person is None or self._people.is_locked(person) else person

    def _proof(self, username: str) -> str:
        record = self._people.credentials()["usernames"].get(username, {})
        return hashlib.sha256(f"{record.get('added')} {record.get('password')}".encode()).hexdigest()

    def _change(self, change: Callable[[frozenset[Session]], set[Session]]) -> None:
        """Read, change and write the file under its lock."""
        with private.locked(self._path):
            sessions = sorted(change(self._held()), key=lambda session: session.ends)
            private.write(self._path, json.dumps([asdict(session) for session in sessions], indent=1))

    def _held(self) -> frozenset[Session]:
        """The sign-ins in the file, read again if the file has changed."""
        with self._lock:
            mark = private.mark(self._path)
            if mark is None or mark != self._seen[0]:
                self._seen = (mark, frozenset(_read(self._path)))
            return self._seen[1]


def _read(path: Path) -> set[Session]:
    """The sign-ins in the file; empty without a file or if it is damaged: everybody signs in again."""
    try:
        return {Session(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))}
    except (FileNotFoundError, ValueError, TypeError):
        return set()
