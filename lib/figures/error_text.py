"""Errors in plain words: what happened and what to do next, for people who don't run services."""

from lib.wire import errors

NOT_LET_IN = "The service rejected our credentials. Ask an administrator to check the token in the settings."
NEXT: tuple[tuple[type[errors.TrancheError], str], ...] = (
    (errors.Unreachable, "The service can't be reached. Try again in a moment."),
    (errors.ResponseTimeout, "The service did not answer in time. Try again in a moment."),
    (errors.DeadlineExceeded, "That took too long. Choose fewer days or a smaller split."),
    (errors.Refused, NOT_LET_IN),
    (errors.Unauthorized, NOT_LET_IN),
    (
        errors.AccessError,
        "You have no permission for this slicer. Choose another one, or ask an administrator.",
    ),
    (errors.TooLarge, "The response is larger than Tranche accepts. Choose fewer days or a smaller split."),
    (
        errors.ServiceProblem,
        "The service returned a response that can't be read. Try again, or tell whoever runs it.",
    ),
    (errors.InternalError, "The service had an internal error. Try again, or tell whoever runs it."),
)
FOR_EVERYBODY = (
    errors.BadRequest,
    errors.DealsError,
    errors.CircuitOpen,
    errors.StoreUnavailable,
    errors.RightsChanged,
)


def details(error: errors.TrancheError) -> str:
    """The error's own words, and the id of the request, which the service's log has too."""
    if not error.request_id or error.request_id in error.reason:
        return error.reason
    return f"{error.reason}\nRequest ID: {error.request_id}"


def is_open(error: errors.TrancheError) -> bool:
    """Whether a write may have succeeded in spite of the error: the request was sent, but no answer came."""
    return isinstance(error, errors.ServiceProblem | errors.DeadlineExceeded) and not isinstance(
        error, errors.CircuitOpen
    )


def sentence(error: errors.TrancheError) -> str:
    """An error in plain words: what happened and what to do next, for people who don't run services."""
    is_limit = isinstance(error, errors.AccessError) and error.reason.startswith(errors.LIMITED)
    if is_limit or (isinstance(error, FOR_EVERYBODY) and not isinstance(error, errors.Unauthorized)):
        return error.sentence
    return next((sentence for kind, sentence in NEXT if isinstance(error, kind)), "The service failed.")
