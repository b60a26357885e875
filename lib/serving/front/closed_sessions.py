"""Sessions whose tab was closed: kept for a while in case it reconnects, and then ended.

A session without a sign-in is ended at once: there is nothing in it that a new one would not have.

Streamlit's own storage looks for sessions whose time is over when another is stored, and only forgets them:
on a quiet desk the answers of the last 128 sessions, and files made for them, would stay in memory. It hands
no other storage in, so that app.py puts this one in its place.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

from lib.serving.front.server import give_back
from lib.wire.deadline import abandon

MOST = 128
SECONDS_BETWEEN = 10


class SessionInfo(Protocol):
    """A session as Streamlit stores it; `session` has an `id`, and `shutdown()` ends it."""

    session: Any


class ClosedSessions:
    """Keeps each session for `seconds`, at most `MOST` of them: a SessionStorage of Streamlit's.

    `is_signed_in` says of a session whether somebody is signed in with it.
    """

    def __init__(
        self, seconds: float, is_signed_in: Callable[[Any], bool], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds, self._is_signed_in, self._now = seconds, is_signed_in, now
        self._kept: dict[str, tuple[float, SessionInfo]] = {}

    def get(self, session_id: str) -> SessionInfo | None:
        """The session, if its time is not over."""
        until, session_info = self._kept.get(session_id, (0.0, None))
        return session_info if self._now() < until else None

    def save(self, session_info: SessionInfo) -> None:
        """Store the session and stop its queries; the oldest is ended if there are too many."""
        abandon(session_info.session.id)
        if not self._is_signed_in(session_info.session):
            session_info.session.shutdown()
            return
        self._kept.pop(session_info.session.id, None)
        self._kept[session_info.session.id] = (self._now() + self._seconds, session_info)
        if len(self._kept) > MOST:
            self._end(next(iter(self._kept)))

    def delete(self, session_id: str) -> None:
        """Remove it: it is active again, or was ended. KeyError without it."""
        del self._kept[session_id]

    def list(self) -> list[SessionInfo]:
        """The sessions whose time is not over."""
        return [session_info for until, session_info in self._kept.values() if self._now() < until]

    def end_overdue(self) -> int:
        """End the sessions whose time is over, and return how many they were."""
        overdue = [session_id for session_id, (until, _) in self._kept.items() if self._now() >= until]
        for session_id in overdue:
            self._end(session_id)
        return len(overdue)

    async def end_in_time(self) -> None:
        """End those whose time is over, until cancelled."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN)
            if self.end_overdue():
                give_back()

    def _end(self, session_id: str) -> None:
        _, session_info = self._kept.pop(session_id)
        session_info.session.shutdown()
