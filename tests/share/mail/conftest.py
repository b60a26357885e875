"""A desk with a mail server on this machine, and people with addresses."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from keeping import Keeper, keeper
from mail_server import Mailbox, mail_server

from lib.serving import connect
from lib.settings import Settings
from lib.share.mail.post import Post

NAMES = ("viewer", "manager", "admin")


@pytest.fixture
def mailbox() -> Mailbox:
    """Takes all mails."""
    return Mailbox()


def with_addresses(settings: Settings) -> Settings:
    """The same; its three people have addresses now."""
    people = connect.installation(settings).people
    for name in NAMES:
        people.change(name, email=f"{name}@reader.example")
    return settings


@pytest.fixture
def desk(own_home: Path, mailbox: Mailbox) -> Iterator[Settings]:
    """Settings of a desk with a mail server."""
    with mail_server(mailbox) as given:
        yield with_addresses(Settings(home=own_home, demo=True, **given))


@pytest.fixture
def shared_desk(own_home: Path, inhabited_url: str, mailbox: Mailbox) -> Iterator[Settings]:
    """The same over each kind of database, for several desks."""
    with mail_server(mailbox) as given:
        yield with_addresses(Settings(home=own_home, database_url=inhabited_url, demo=True, **given))


@pytest.fixture
def kept(desk: Settings) -> Keeper:
    """What the person of this name keeps there."""
    return keeper(desk)


@pytest.fixture
def post(desk: Settings) -> Post:
    """Makes and sends mails when told to."""
    return Post(desk)
