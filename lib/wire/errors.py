"""The one family of errors.

Every failure that a person or a script may see is one of these; its text is a sentence for them.

    TrancheError
    ├── BadRequest            the question is wrong; says what would be right     400
    │   ├── UnknownName       a name that does not exist, with the nearest one
    │   └── BadDefinition     a slicer definition, with line and field
    ├── AccessError           wrong token, or nothing granted here                403
    ├── TooManyAttempts       wrong passwords, too often; says how long to wait   429
    ├── DeadlineExceeded      the answer took longer than allowed                 504
    ├── InternalError         a cause that the caller can't mend                  500
    ├── Misconfigured         a setting or a file of this installation; says which and what would be right
    ├── ImportRefused         a file that can't be imported; nothing was changed
    └── ServiceProblem        (client side) no answer that the specification knows
        ├── Unreachable       no connection, or it broke off
        └── Unreadable        an answer came, but not one of this API
"""

import difflib
from collections.abc import Iterable
from typing import ClassVar


class TrancheError(Exception):
    """A failure whose text may be shown as it is.

    `status` is the word that the reporting API sends (specification, Errors); `http` the code beside it.
    """

    status: ClassVar[str] = "internal_error"
    http: ClassVar[int] = 500

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BadRequest(TrancheError):
    """The request can't be answered as it stands; `reason` says what would be right."""

    status = "bad_request"
    http = 400


class UnknownName(BadRequest):
    """A name that is not there; the reason offers the nearest one that is."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"Unknown {kind} '{name}'{_suggestion(name, list(known))}")


class BadDefinition(BadRequest):
    """A slicer definition that can't be used: where (line, field), and what would be right."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class AccessError(TrancheError):
    """No access. The same words for a wrong token, an unknown slicer and one not granted."""

    status = "access_error"
    http = 403

    def __init__(self, reason: str = "No access to this project or slicer, or wrong token") -> None:
        super().__init__(reason)


class TooManyAttempts(TrancheError):
    """Sign-ins of this name or from this address failed too often; `retry_after` is in seconds."""

    status = "access_error"
    http = 429

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many failed attempts to sign in; try again in {retry_after} seconds")
        self.retry_after = retry_after


class DeadlineExceeded(TrancheError):
    """The query was stopped because it took longer than the service allows."""

    status = "timeout"
    http = 504


class InternalError(TrancheError):
    """Something failed that the caller did not cause; details are in the log, not here."""

    def __init__(self, reason: str = "The service failed for a reason of its own; its log says why") -> None:
        super().__init__(reason)


class Misconfigured(TrancheError):
    """A setting or file of this installation can't be used; says which, where, and what would be right."""


class ImportRefused(TrancheError):
    """A file that is not imported; the slicer is as it was before."""


class ServiceProblem(TrancheError):
    """The service gave no answer that its specification knows."""


class Unreachable(ServiceProblem):
    """The service could not be reached, or the connection broke off."""


class Unreadable(ServiceProblem):
    """Something answered, but not in the words of this API."""


def _suggestion(name: str, known: list[str]) -> str:
    """`; did you mean '…'?` for the nearest of `known`, by whole name or by its last dotted parts."""
    tails = {tail: full for full in known for tail in _tails(full)}
    near = difflib.get_close_matches(name, [*known, *tails], n=1, cutoff=0.6)
    return f"; did you mean '{tails.get(near[0], near[0])}'?" if near else ""


def _tails(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[start:]) for start in range(1, len(parts))]
