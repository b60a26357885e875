"""Link on Audience: the figures as a file, and share links, for those who may make them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from opening import Popover, of_delivery
from streamlit.testing.v1 import AppTest

from lib import settings as settings_module
from lib.people import People
from lib.serving import connect
from lib.settings import Settings
from lib.views import ShareLinks

LINK = Popover("share")
MAKE = "Make a share link"
KINDS = ["HTML", "PDF", "PNG"]
Links = Callable[[str], ShareLinks]


@pytest.fixture(autouse=True)
def people(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> People:
    """The people of a desk of its own."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    monkeypatch.setenv("TRANCHE_DEMO", "true")
    return connect.installation(Settings.current()).people


@pytest.fixture
def links(people: People) -> Links:
    """The share links of a person."""
    return lambda name: connect.connect(people.require(name), Settings.current()).view_store.share_links


def labels(desk: AppTest) -> list[str]:
    """The labels of what can be pressed."""
    return [
        *(button.label for button in desk.button),
        *(button.proto.label for button in desk.get("download_button")),
    ]


def made_link(desk: AppTest) -> str:
    """The share link that is shown."""
    return next((code.value for code in desk.code if "/shared/" in code.value), "")


def test_everybody_has_the_figures_as_files(links: Links) -> None:
    """Whoever sees the figures may download them; the form of share links is for those who may make them."""
    desk = LINK.opened(of_delivery(person="viewer"))
    assert {*KINDS} <= {*labels(desk)}
    assert MAKE not in labels(desk)


@pytest.mark.parametrize("days", ["latest", "fixed"])
def test_a_link_is_made_of_the_question(people: People, links: Links, days: str) -> None:
    """It has the filters of the question, and its days as they move or as they are; the key is shown once."""
    people.change("manager", shares=True)
    desk = LINK.opened(of_delivery(**{"is.geo.country": "DE", "start": "-7d", "end": "yesterday"}))
    choices = desk.selectbox(key="share_link_days")
    assert desk.text_input(key="share_link_name").value == "Impressions of delivery"
    choices.set_value(choices.options[0 if days == "latest" else 1])
    desk = LINK.submit(desk, MAKE)
    link = links("manager").everything()[0]
    assert (link.name, link.params["is.geo.country"]) == ("Impressions of delivery", "DE")
    assert (link.params["start"] == "-7d") is (days == "latest")
    assert f"/shared/{link.id}." in made_link(desk)
    assert MAKE not in labels(desk)
    desk = LINK.press(desk, "share_link_another")
    assert made_link(desk) == ""
    assert MAKE in labels(desk)


def test_what_is_wrong_is_said(people: People, links: Links) -> None:
    """A site that is no origin is named, and no link is made."""
    desk = LINK.opened(of_delivery(person="admin"))
    desk.text_input(key="share_link_origins").set_value("https://fine.example, nonsense/path")
    desk = next(button for button in desk.button if button.label == MAKE).click().run()
    assert "'nonsense/path' is not an origin" in desk.error[0].value
    assert links("admin").everything() == []


def test_a_link_for_one_address(people: People, links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where mail is set up the form takes one address, which Access names; without it there is no field."""
    people.change("manager", shares=True)
    desk = LINK.opened(of_delivery())
    assert "Only for" not in [field.label for field in desk.text_input]
    monkeypatch.setenv("TRANCHE_SMTP_HOST", "127.0.0.1")
    monkeypatch.setenv("TRANCHE_MAIL_FROM", "desk@house.example")
    settings_module._current.cache_clear()
    desk = LINK.opened(of_delivery())
    desk.text_input(key="share_link_recipient").set_value(" bea@buyer.example ")
    LINK.submit(desk, MAKE)
    [link] = links("manager").everything()
    assert link.recipient == "bea@buyer.example"
    tables = [frame.value for frame in of_delivery("access").dataframe]
    assert [[*table["Only for"]] for table in tables if "Only for" in table] == [["bea@buyer.example"]]


def test_the_setting_hides_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without share links there is no form, for administrators neither."""
    monkeypatch.setenv("TRANCHE_SHARE_LINKS", "false")
    settings_module._current.cache_clear()
    assert MAKE not in labels(LINK.opened(of_delivery(person="admin")))


def test_access_lists_ones_own_links(people: People, links: Links) -> None:
    """Who may share sees their links below their tokens; who may not sees no such list."""
    people.change("manager", shares=True)
    links("manager").make("demo", "delivery", "Mine", {})
    links("admin").make("demo", "delivery", "Theirs", {})
    tables = [frame.value for frame in of_delivery("access").dataframe]
    assert [[*table["Title"]] for table in tables if "Title" in table] == [["Mine"]]
    assert "Your share links" not in [
        header.value for header in of_delivery("access", person="viewer").header
    ]
