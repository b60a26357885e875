"""The saved view that a person's desk opens on."""

import logging

from lib import connect
from lib.people import Person
from lib.settings import Settings
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)


def params(person: Person) -> dict[str, str]:
    """The URL parameters of the person's start page, project and slicer among them; empty without one.

    It is also empty where the database fails: then the desk opens on its usual screen, and the log says why.
    """
    try:
        view = connect.connect(person, Settings.current()).view_store.start.get()
    except TrancheError as error:
        log.warning("The start page could not be read: %s", error.reason)
        return {}
    return {} if view is None else {"project": view.project, "slicer": view.slicer, **view.params}
