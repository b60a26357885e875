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
    """The sign-ins of one installation, kept in a file so that they outlive a restart. Safe among threads."""

    def __init__(self, path: Path, people: People, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since 1970."""
        self._path, self._people, self._clock = path, people, clock
        self._lock = threading.Lock()
        self._open = _read(path)

    def begin(self, username: str, ends: float) -> None:
        """Note that this person signed in; name and end together are what the cookie tells."""
        session = Session(username, ends, self._proof(username))
        with self._lock:
            self._open = {*(kept for kept in self._open if kept.ends > self._clock()), session}
            self._write()

    def end(self, username: str, ends: float) -> None:
        """Strike the sign-in off: in every tab that shares its cookie."""
        with self._lock:
            self._open = {kept for kept in self._open if (kept.username, kept.ends) != (username, ends)}
            self._write()

    def person(self, username: str, ends: float) -> Person | None:
        """The person as they are now, if this sign-in holds: noted, not over, and with the same password."""
        if ends <= self._clock() or Session(username, ends, self._proof(username)) not in self._open:
            return None
        return self._people.get(username)

    def _proof(self, username: str) -> str:
        record = self._people.credentials()["usernames"].get(username, {})
        return hashlib.sha256(f"{record.get('added')} {record.get('password')}".encode()).hexdigest()

    def _write(self) -> None:
        sessions = sorted(self._open, key=lambda session: session.ends)
        private.write(self._path, json.dumps([asdict(session) for session in sessions], indent=1))


def _read(path: Path) -> set[Session]:
    """The sign-ins in the file; nobody without one, or when it is damaged: then all sign in again."""
    try:
        return {Session(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))}
    except (FileNotFoundError, ValueError, TypeError):
        return set()
