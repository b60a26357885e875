"""The seam of the sign-in: another method than those of the desk, by its two functions alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from lib.people import Person
from lib.ui.kit import sign_in
from lib.ui.kit.sign_in_methods import Visit, problem, problem_of

DESK = str(Path(__file__).parents[2] / "lib" / "desk.py")
LINKS = {"k7": "viewer"}


class MailedLink:
    """A link that was mailed to a person: `/?link=…`."""

    def arrival(self, visit: Visit) -> Person | None:
        """The person of the link."""
        number = st.query_params.get("link")
        if number and number not in LINKS:
            problem("This link is not valid any more.", "link")
        return visit.installation.people.get(LINKS.get(number or "", ""))

    def draw(self, visit: Visit) -> None:
        """What was wrong with the link."""
        if sentence := problem_of("link"):
            st.error(sentence)


@pytest.fixture
def another_method(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A desk with one more line in its list of methods."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    monkeypatch.setattr(sign_in, "METHODS", (*sign_in.METHODS, MailedLink()))
    yield


def visit(link: str) -> AppTest:
    """A visit to the desk by such a link."""
    desk = AppTest.from_file(DESK, default_timeout=60)
    desk.query_params["link"] = link
    desk.run()
    assert not desk.exception
    return desk


@pytest.mark.usefixtures("another_method")
def test_a_method_signs_in_who_it_names() -> None:
    """Whom a method names has a session like anybody else, which ends with a click on Sign out."""
    desk = visit("k7")
    assert desk.session_state["username"] == "viewer"
    assert not desk.text_input or desk.text_input[0].label != "Name"
    desk.get("menu_button")[0].click("Sign out").run()
    assert [field.label for field in desk.text_input] == ["Name", "Password"]


@pytest.mark.usefixtures("another_method")
def test_a_method_shows_why_nobody_is_signed_in() -> None:
    """What it refuses is on the page, until name and password are tried; these work as ever."""
    desk = visit("old")
    assert [error.value for error in desk.error] == ["This link is not valid any more."]
    desk.button(key="demo_viewer").click().run()
    assert desk.session_state["username"] == "viewer"
