"""Errors in plain words: what happened and what to do next, for people who don't run services."""

from lib.wire.errors import (
    LIMITED,
    AccessError,
    BadRequest,
    CircuitOpen,
    DeadlineExceeded,
    DealsError,
    InternalError,
    Refused,
    ResponseTimeout,
    RightsChanged,
    ServiceProblem,
    StoreUnavailable,
    TooLarge,
    TrancheError,
    Unauthorized,
    Unreachable,
)

NOT_LET_IN = "The service rejected our credentials. Ask an administrator to check the token in the settings."
NEXT: tuple[tuple[type[TrancheError], str], ...] = (
    (Unreachable, "The service can't be reached. Try again in a moment."),
    (ResponseTimeout, "The service did not answer in time. Try again in a moment."),
    (DeadlineExceeded, "That took too long. Choose fewer days or a smaller split."),
    (Refused, NOT_LET_IN),
    (Unauthorized, NOT_LET_IN),
    (AccessError, "You have no permission for this slicer. Choose another one, or ask an administrator."),
    (TooLarge, "The response is larger than Tranche accepts. Choose fewer days or a smaller split."),
    (
        ServiceProblem,
        "The service returned a response that can't be read. Try again, or tell whoever runs it.",
    ),
    (InternalError, "The service had an internal error. Try again, or tell whoever runs it."),
)
FOR_EVERYBODY = (BadRequest, DealsError, CircuitOpen, StoreUnavailable, RightsChanged)


def details(error: TrancheError) -> str:
    """The error's own words, and the id of the request, which the service's log has too."""
    if not error.request_id or error.request_id in error.reason:
        return error.reason
    return f"{error.reason}\nRequest ID: {error.request_id}"


def is_open(error: TrancheError) -> bool:
    """Whether a write may have succeeded in spite of the error: the request was sent, but no answer came."""
    return isinstance(error, ServiceProblem | DeadlineExceeded) and not isinstance(error, CircuitOpen)


def sentence(error: TrancheError) -> str:
    """An error in plain words: what happened and what to do next, for people who don't run services."""
    is_limit = isinstance(error, AccessError) and error.reason.startswith(LIMITED)
    if is_limit or (isinstance(error, FOR_EVERYBODY) and not isinstance(error, Unauthorized)):
        return error.sentence
    return next((sentence for kind, sentence in NEXT if isinstance(error, kind)), "The service failed.")
