"""What the people of the small demo keep: saved views, start pages, notes on dates, alerts."""

from collections.abc import Callable

from conftest import PEOPLE

from lib.serving import connect
from lib.settings import Settings
from lib.views import ViewStore

Keeper = Callable[[str], ViewStore]


def keeper(settings: Settings) -> Keeper:
    """The stores of a person, by their name, over the data directory of these settings."""
    people = {person.username: person for person in PEOPLE}
    return lambda name: connect.connect(people[name], settings).view_store
