"""The state of the stand-in: its slicers, its requests, and its faults; tests read and change it."""

import secrets
import threading
from dataclasses import dataclass, field, fields
from typing import Any

from standin.known import CachedSlicer

TOKEN, USERNAME, PASSWORD = "standin-token", "trader", "a long password"


@dataclass(frozen=True)
class WriteRequest:
    """One request: its path, its headers in lower case, and its body, read where that was possible."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class State:
    """One stand-in. The first part is what it has, the second how it behaves, the third what happened.

    `error_code` is the HTTP code of errors, 200 or a 4xx. `weight` is how many records a row counts as when
    `audience_rows_limit` is applied; with 0 it never samples. `told` is laid over each info answer,
    `without_percent` names data fields that have no shares, `is_always_yaml` does not look at `Accept`.
    """

    slicers: dict[tuple[str, str], CachedSlicer]
    token: str = TOKEN
    people: dict[str, str] = field(default_factory=lambda: {USERNAME: PASSWORD})

    error_code: int = 200
    expires_in: str = "3600"
    weight: int = 1
    told: dict[str, Any] = field(default_factory=dict)
    without_percent: frozenset[str] = frozenset({"revenue"})
    is_always_yaml: bool = False

    given: dict[str, str] = field(default_factory=dict)
    grants: int = 0
    asked: list[WriteRequest] = field(default_factory=list)
    deals: Any = None
    lock: Any = field(default_factory=threading.RLock, repr=False)

    def give(self, scope: str) -> str:
        """A new temporary token for `service_id=…`."""
        with self.lock:
            token = secrets.token_urlsafe(24)
            self.given[token] = scope
            self.grants += 1
            return token

    def accepts(self, token: object, service: str | None = None) -> bool:
        """Whether a token is the permanent one, or one given out (for that service, where one is named)."""
        scope = self.given.get(token) if isinstance(token, str) else None
        return token == self.token or (scope is not None and scope.endswith(service or ""))

    def reset(self) -> None:
        """Reset to the initial state, with the same slicers and deals."""
        fresh = State(self.slicers)
        for part in fields(self):
            if part.name not in ("slicers", "deals", "lock"):
                setattr(self, part.name, getattr(fresh, part.name))
