"""Tokens for people signed in to the desk, which calls the embedded APIs in their name."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from lib.people import Person
from lib.people.tokens.access import Access
from lib.people.tokens.store import Token
from lib.settings import Settings
from lib.wire.call import Credential
from lib.wire.errors import AccessError


def _now() -> datetime:
    return datetime.now(UTC)


class DeskTokens:
    """Short-lived tokens, one for each person and API at a time.

    They are this process's alone, and in no database: people read on where it can't be written.
    """

    def __init__(self, access: Access, settings: Settings, now: Callable[[], datetime] = _now) -> None:
        self._store, self._services, self._now = access.store, settings.services, now
        self._lifetime = timedelta(seconds=settings.token_seconds)
        self._lock = threading.Lock()
        self._current: dict[tuple[object, ...], tuple[str, datetime]] = {}

    def of(self, person: Person, api: str, within: Token | None = None) -> Credential:
        """The credential of this person's clients, valid however long a page stays open.

        It opens no more than the token `within`, which its caller has checked, if there is one.
        """
        return _DeskCredential(self, person, api, within)

    def token(self, person: Person, api: str, within: Token | None = None) -> str:
        """A token of this person for `reporting` or `deals`, with at least half of its life before it."""
        number = None if within is None else within.id
        key, now = (person.username, person.added, api, number, person.within), self._now()
        with self._lock:
            token, renew_at = self._current.get(key, ("", now))
            if now >= renew_at or not self.is_own(token):
                to, grants = (person.username, self._services[api]), person.within or ()
                token = self._store.lend(*to, self._lifetime, within, grants)
                self._current[key] = (token, now + self._lifetime / 2)
            return token

    def is_own(self, token: str) -> bool:
        """Whether this desk issued the token; such calls are not throttled."""
        return self._store.is_lent(token)


@dataclass(frozen=True)
class _DeskCredential(Credential):
    """A person's credential for one API of this process. Refused with a fresh token, they have no access."""

    desk_tokens: DeskTokens
    person: Person
    api: str
    within: Token | None = None

    def token(self) -> str:
        return self.desk_tokens.token(self.person, self.api, self.within)


@dataclass(frozen=True)
class NoToken(Credential):
    """The credential of a caller without a token for an API: using it says which one is missing."""

    api: str

    def token(self) -> NoReturn:
        raise AccessError(f"This needs a token for the {self.api} API, which the call has not")
