"""The credential of a client: a permanent token, or a temporary one that is renewed."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from lib.wire import request_ids
from lib.wire.errors import AccessError, Unauthorised

Answer = TypeVar("Answer")


class Credential(Protocol):
    """The source of a client's token."""

    def token(self) -> str:
        """A token that should work now. Raises the token service's refusal, or ServiceProblem."""

    def renewed(self, refused: str) -> str | None:
        """Another token than the one that was refused; None where there is no other."""


class Permanent:
    """A permanent token."""

    def __init__(self, text: str) -> None:
        self._text = text

    def token(self) -> str:
        """The token."""
        return self._text

    def renewed(self, refused: str) -> str | None:
        """None: a permanent token can't be renewed."""
        return None


def credential(token: "str | Credential") -> Credential:
    """The credential of a token's text."""
    return Permanent(token) if isinstance(token, str) else token


def in_the_name_of(credential: Credential, ask: Callable[[str], Answer]) -> Answer:
    """Call `ask` with a token; if that is refused and can be renewed, once more with the new one.

    A refused request did nothing, so that writing ones may be repeated too (RFC 9110, 15.5.2).
    All of it has one request id, which an error carries.
    """
    with request_ids.asking():
        token = credential.token()
        try:
            return ask(token)
        except (AccessError, Unauthorised):
            another = credential.renewed(token)
            if another is None:
                raise
        return ask(another)
