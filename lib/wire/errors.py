"""The one family of errors.

Every failure that a person or a script may see is one of these; its text is a sentence for them.

    TrancheError
    ├── BadRequest            the question is wrong; says what would be right     400
    │   ├── UnknownName       a name that does not exist, with the nearest one
    │   └── BadDefinition     a slicer definition, with line and field
    ├── AccessError           wrong token, or nothing granted here                403
    │   ├── NotAdmitted       a company account that may not sign in here; says why
    │   ├── RightsChanged     of who has a page open: signed out, or with other permissions
    │   └── Refused           (client side) our own credentials are rejected
    ├── TooManyAttempts       wrong passwords, too often; says how long to wait   429
    ├── DeadlineExceeded      the answer took longer than allowed                 504
    │   ├── Abandoned         nobody waits for the answer any more
    │   └── ResponseTimeout   (client side) none came in time
    ├── InternalError         a cause that the caller can't fix                  500
    │   ├── StoreUnavailable  the database is full or damaged; nothing was changed
    │   │   ├── StoreUnwritable   its disk is full or read-only                  507
    │   │   └── StoreAway     it can't be reached, or is busy                   503
    │   │       └── StoreTimeout   it did not answer in time                    504
    │   └── SourceUnavailable a database with a slicer's rows does not answer   503
    │       └── SourceLocked  another session keeps the table locked
    ├── DealsError            the deals API's codes (its specification, Errors)
    │   ├── Invalid           what is wrong, per field, nested as the request is  400
    │   ├── Unauthorized      no token, or none that opens this service           401
    │   ├── Forbidden         this person may only read                           403
    │   ├── NotFound          no such entity                                      404
    │   ├── InUse             others depend on it; names them                     406
    │   ├── Conflict          a duplicate, a lost race, a stale edit              409
    │   ├── Unsupported       the service does not do this at all                 405
    │   └── Throttled         too many requests; says how long to wait            429
    ├── Misconfigured         a setting or a file of this installation; says which   503
    │   └── Damaged           a stored file; where it lies is not for callers        500
    ├── ImportRefused         a file that can't be imported; nothing was changed
    │   └── RowsOverlap       rows whose keys are there already, and nobody said what to do
    └── ServiceProblem        (client side) no answer that the specification knows
        ├── Unreachable       no connection, or it broke off
        │   └── CircuitOpen   it failed so often that it is not called for 15 seconds
        └── Unreadable        an answer came, but not one of this API
            ├── MalformedResponse   it is torn, or a page for people
            └── TooLarge      it is larger than is taken

`requirement` puts validation errors into plain words, as pydantic's own speak of Python types; `suggestion`
gives the name that somebody may have meant by one that is unknown.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeGuard

UNAVAILABLE = 503
WORDS = {
    "missing": "is required",
    "extra_forbidden": "is not a field of the request",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "too_short": "may not be empty",
    "too_long": "may have at most {max_length} elements",
    "string_type": "must be text",
    "string_unicode": "must be text in Unicode",
    "string_too_short": "may not be empty",
    "string_too_long": "may have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "may be at most {le}",
    "literal_error": "must be {expected}",
    "value_error": "{error}",
    "definition": "{reason}",
}
LIMITED = "Your access is limited to some rows of"
"""How the reason begins where a grant of some rows opens nothing; by it a screen knows the sentence."""


class TrancheError(Exception):
    """A failure whose text may be shown as it is.

    `status` is the word that the reporting API sends (specification, Errors); `http` the code beside it.
    `request_id` is that of the request to a service that failed so, where there was one.
    """

    status: ClassVar[str] = "internal_error"
    http: ClassVar[int] = 500

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.request_id = ""

    @property
    def sentence(self) -> str:
        """The reason with its full stop, for screens that go on: what was kept, what to do next."""
        return f"{self.reason.rstrip('.')}."


class BadRequest(TrancheError):
    """The request can't be answered as it stands; the reason says what would be right."""

    status = "bad_request"
    http = 400


class UnknownName(BadRequest):
    """A name that is not there; the reason offers the nearest one that is."""

    def __init__(self, kind: str, name: str, names: Iterable[str]) -> None:
        super().__init__(f"Unknown {kind} '{name}'{suggestion(name, list(names))}")
        self.name = name


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


class NotAdmitted(AccessError):
    """A company account that may not sign in here; the reason says why, in whole sentences."""


class RightsChanged(AccessError):
    """Whoever has a page open is signed out, or has other permissions than when it was drawn; says which."""


class Refused(AccessError):
    """A remote service rejected our credentials: the token, or the name and password."""


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


class Abandoned(DeadlineExceeded):
    """The query was stopped because its caller has gone."""


class ResponseTimeout(DeadlineExceeded):
    """Nothing came, or not all of it, while the caller waited: the service hangs, or has much to do."""


class InternalError(TrancheError):
    """Something failed that the caller did not cause; details are in the log, not here."""

    def __init__(self, reason: str = "The service had an internal error; its log has the details") -> None:
        super().__init__(reason)


class StoreUnavailable(InternalError):
    """The database can't be used right now; what was asked did not happen."""


class StoreUnwritable(StoreUnavailable):
    """The database can be read, but not written: no room, or its disk has become read-only.

    Insufficient Storage of RFC 4918, 11.5: a code that is not in the specifications of the APIs.
    """

    http = 507
    REASON: ClassVar[str] = (
        "The database's disk is full or read-only; nothing was changed. "
        "It works again once the disk can be written"
    )

    def __init__(self) -> None:
        super().__init__(self.REASON)


class StoreAway(StoreUnavailable):
    """The database can't be reached or is busy: the same request may succeed in a moment."""

    http = UNAVAILABLE


class StoreTimeout(StoreAway):
    """The database did not answer in time, however small the question was."""

    http = DeadlineExceeded.http

    def __init__(self) -> None:
        super().__init__("The database did not answer in time; nothing was changed. Try again in a moment")


class SourceUnavailable(InternalError):
    """The database that has a slicer's rows does not answer; nothing is known of its figures."""

    http = UNAVAILABLE

    def __init__(self, connection: str, why: str = "does not answer; try again in a minute") -> None:
        super().__init__(f"The database of {connection} {why}")


class SourceLocked(SourceUnavailable):
    """Another session keeps the table locked; the deadline or the size of the query is not the cause."""

    def __init__(self, connection: str) -> None:
        super().__init__(
            connection,
            "has the table locked by another session, such as a load or an ALTER TABLE; try again once that "
            "has ended",
        )


class DealsError(TrancheError):
    """A failure in the words of the deals API: its code in `http`, and `headers` that belong to it."""

    status = "bad_request"
    http = 400

    @property
    def headers(self) -> dict[str, str]:
        return {}

    @property
    def body(self) -> dict[str, Any]:
        """The body of the answer (decisions: Error body)."""
        return {"detail": self.reason}


class Invalid(DealsError):
    """The request failed validation. `fields`: what is wrong, nested as the request is.

    `{"name": ["…"], "geo_targetings": [{}, {"type": ["…"]}], "non_field_errors": ["…"]}`: a list of
    objects has one element for each of the request's, empty where nothing is wrong.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__("; ".join(_flat(fields)) or "The request is not valid")
        self.fields = fields

    @property
    def body(self) -> dict[str, Any]:
        return self.fields


class Unauthorized(DealsError):
    """Nobody in particular asks: no token, an unusable one, or one for another service."""

    status = "access_error"
    http = 401

    def __init__(self, reason: str = "Missing or invalid token", challenge: str = "Bearer") -> None:
        super().__init__(reason)
        self.challenge = challenge

    @property
    def headers(self) -> dict[str, str]:
        """The challenge (RFC 6750, section 3)."""
        return {"WWW-Authenticate": self.challenge}


class Forbidden(DealsError):
    """Somebody known, who may not do this."""

    status = "access_error"
    http = 403


class NotFound(DealsError):
    """There is no such entity."""

    http = 404


class InUse(DealsError):
    """Others depend on it; the reason names them."""

    http = 406


class Conflict(DealsError):
    """The database refused it: a duplicate, a lost race, an edit of something that changed meanwhile."""

    http = 409


class Unsupported(DealsError):
    """The service does not do this, whoever asks; says who can."""

    http = 405


class Throttled(DealsError):
    """Too many requests; `retry_after` is in seconds."""

    http = 429

    def __init__(self, retry_after: int, reason: str | None = None) -> None:
        super().__init__(reason or f"Too many requests; try again in {retry_after} seconds")
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """How long to wait (RFC 9110, 10.2.3)."""
        return {"Retry-After": str(self.retry_after)}


class Misconfigured(TrancheError):
    """A setting or file of this installation can't be used; says which, where, and what would be right.

    Nothing of a secret is in the sentence: whoever calls an API reads it.
    """

    http = UNAVAILABLE


class Damaged(Misconfigured):
    """A stored file can't be read. The sentence has its path: it is for the log and the command line."""

    http = 500


class ImportRefused(TrancheError):
    """A file that is not imported; the slicer is as it was before."""


class RowsOverlap(ImportRefused):
    """Rows have keys that are there already, and nobody said what to do with them.

    Where `is_among_files`, an earlier file of the same import has some: to replace days would keep both.
    """

    def __init__(self, reason: str, is_among_files: bool) -> None:
        super().__init__(reason)
        self.is_among_files = is_among_files


class ServiceProblem(TrancheError):
    """The service gave no answer that its specification knows."""


class Unreachable(ServiceProblem):
    """The service could not be reached, or the connection broke off."""


class CircuitOpen(Unreachable):
    """The service failed again and again and is not asked for a while; `retry_after` is in seconds."""

    def __init__(self, name: str, retry_after: int, why: str = "does not answer") -> None:
        seconds = f"{retry_after} second{'' if retry_after == 1 else 's'}"
        super().__init__(f"{name[:1].upper()}{name[1:]} {why} and is retried in {seconds}")
        self.retry_after = retry_after


class Unreadable(ServiceProblem):
    """Something answered, but not in the words of this API."""


class MalformedResponse(Unreadable):
    """The answer is not from such a service, or was cut off on the way; a retry may succeed."""


class TooLarge(Unreadable):
    """The answer has more bytes than the caller takes; the rest of it was not read."""


def is_passing(error: object) -> TypeGuard[TrancheError]:
    """Whether the same request may succeed in a moment: what failed is the service, or its answer in time."""
    kinds = (ServiceProblem, InternalError, Throttled, ResponseTimeout)
    return isinstance(error, kinds) and not isinstance(error, TooLarge)


def _flat(fields: Any, where: str = "") -> Iterator[str]:
    """`geo_targetings.1.type: …` for each message in a tree of them."""
    if isinstance(fields, str):
        yield f"{where}: {fields}" if where and where != "non_field_errors" else fields
    elif isinstance(fields, list):
        is_of_objects = any(isinstance(item, dict) for item in fields)
        for number, item in enumerate(fields):
            yield from _flat(item, f"{where}.{number}" if is_of_objects else where)
    elif isinstance(fields, dict):
        for name, part in fields.items():
            yield from _flat(part, f"{where}.{name}" if where else str(name))


def suggestion(name: str, names: list[str]) -> str:
    """`; did you mean '…'?` for the nearest of `names`, by whole name or by its last dotted parts."""
    tails: dict[str, str] = {}
    for full in names:
        parts = full.split(".")
        tails |= {".".join(parts[start:]): full for start in range(1, len(parts))}
    near = difflib.get_close_matches(name, [*names, *tails], n=1, cutoff=0.6)
    return f"; did you mean '{tails.get(near[0], near[0])}'?" if near else ""


def problem_sentence(problem: Any) -> str:
    """One of pydantic's errors, by its path: `filters[0].match must be 'equals' or 'contains', not 'is'`."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"])
    value = f", not {problem['input']!r}" if problem["type"] == "literal_error" else ""
    return f"{path.lstrip('.')} {requirement(problem['type'], problem.get('ctx'))}{value}"


def requirement(kind: str, context: Mapping[str, Any] | None = None) -> str:
    """`must be a whole number`, for the type and the context of one of pydantic's errors."""
    return WORDS.get(kind, "has a value that is not allowed here").format(**(context or {}))
