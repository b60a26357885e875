"""Sessions whose tab was closed are kept for a while, and then ended."""

from typing import Any

import pytest
from clocks import Stopwatch
from streamlit.runtime.session_manager import SessionInfo

from lib.serving.front.closed_sessions import MOST, ClosedSessions


class Session:
    """As much of a session as a storage sees."""

    def __init__(self, number: int, *, is_signed_in: bool = True) -> None:
        self.id, self.is_ended = f"session {number}", False
        self.is_signed_in = is_signed_in

    def shutdown(self) -> None:
        """End it."""
        self.is_ended = True


def closed(clock: Stopwatch) -> ClosedSessions:
    """A storage that keeps sessions for two minutes."""
    return ClosedSessions(120, lambda session: session.is_signed_in, clock)


def info(session: Any) -> SessionInfo:
    """The session as it is stored."""
    return SessionInfo(client=None, session=session, script_run_count=1)


def test_a_session_is_kept_for_its_time() -> None:
    """A tab that comes back finds its session; one that does not is ended, also if nobody else comes."""
    clock, session = Stopwatch(), Session(1)
    storage = closed(clock)
    storage.save(info(session))
    clock.seconds += 119
    assert storage.end_overdue() == 0
    assert storage.get(session.id) == info(session)
    assert storage.list() == [info(session)]
    clock.seconds += 1
    assert storage.get(session.id) is None
    assert storage.list() == []
    assert not session.is_ended
    assert storage.end_overdue() == 1
    assert session.is_ended


def test_a_session_that_came_back_is_not_ended() -> None:
    """What is taken out of the storage is active again."""
    clock, session = Stopwatch(), Session(1)
    storage = closed(clock)
    storage.save(info(session))
    storage.delete(session.id)
    clock.seconds += 1000
    assert (storage.end_overdue(), session.is_ended) == (0, False)
    with pytest.raises(KeyError):
        storage.delete(session.id)


def test_no_more_than_so_many_are_kept() -> None:
    """The oldest is ended when there are too many."""
    sessions = [Session(number) for number in range(MOST + 2)]
    storage = closed(Stopwatch())
    for session in sessions:
        storage.save(info(session))
    assert [session.is_ended for session in sessions] == [True, True, *[False] * MOST]


def test_a_session_without_a_sign_in_is_not_kept() -> None:
    """It ends with its tab, and takes the place of nobody else's."""
    storage, kept = closed(Stopwatch()), Session(0)
    storage.save(info(kept))
    visits = [Session(number, is_signed_in=False) for number in range(1, MOST + 2)]
    for session in visits:
        storage.save(info(session))
    assert all(session.is_ended for session in visits)
    assert not kept.is_ended
    assert storage.list() == [info(kept)]
