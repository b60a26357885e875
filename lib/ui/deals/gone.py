"""The message for a package or deal that does not exist: who deleted it and when, if known."""

from lib.ui.frame.frame import Here
from lib.ui.supply import catalogue, facts
from lib.ui.supply.rows import KINDS, Key
from lib.wire.errors import NotFound, TrancheError


def sentence(here: Here, key: Key) -> str:
    """Why it can't be shown, by its history, which a service may keep after a deletion."""
    what = f"{KINDS[key[0]]} {key[1]:d}"
    try:
        changes = catalogue.client(here).history(*key)
    except NotFound:
        return f"{what} does not exist."
    except TrancheError:
        return f"{what} does not exist; it may have been deleted."
    if not changes or changes[0].action != "removed":
        return f"{what} does not exist; it may have been deleted."
    return f"{what} was deleted by {changes[0].who} on {facts.moment(changes[0].at)}."
