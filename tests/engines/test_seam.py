"""A kind of database is one file and a few entries; none of them is forgotten."""

import re

import pytest
from conformance.conftest import DATABASES, OTHERS
from documents import ROOT
from pydantic import ValidationError

from lib.engines.connected.backends import OPENERS, TITLES, open_backend
from lib.settings.local import Connection
from lib.wire.errors import Misconfigured


@pytest.mark.parametrize("scheme", OPENERS)
def test_every_kind_has_its_entries(scheme: str) -> None:
    """It has a name for people, settings take its URL, and the documents list it."""
    assert TITLES[scheme]
    assert Connection(url=f"{scheme}://somewhere")
    assert f"| `{scheme}://" in (ROOT / "docs/connections.md").read_text("utf-8")


def test_settings_take_no_other_kind() -> None:
    """A scheme that nothing opens is refused by the settings; who would open it names those there are."""
    assert TITLES.keys() == OPENERS.keys()
    with pytest.raises(ValidationError):
        Connection(url="trino://somewhere")
    with pytest.raises(Misconfigured, match=re.escape(", ".join(f"{scheme}://" for scheme in OPENERS))):
        open_backend("trino://somewhere")


def test_a_database_is_under_the_conformance_suite_by_its_fixture() -> None:
    """The engines of the suite are those of the one table of fixtures."""
    assert set(OTHERS) <= DATABASES.keys() and OTHERS[0] == "postgresql"
