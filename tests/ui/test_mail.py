"""Mails on the screen: the panel of a saved view, and the list on Access."""

from collections.abc import Callable
from datetime import UTC, datetime
from email import message_from_string, policy
from pathlib import Path

import pytest
from keeping import Keeper, keeper
from opening import Popover, of_delivery, opened
from streamlit.testing.v1 import AppTest

from lib.serving import connect
from lib.settings import Settings
from lib.share.mail.outbox import Outbox
from lib.views import Schedule

WEEK = {"start": "-7d", "end": "yesterday"}
VIEWS = Popover("saved_views")
MAIL = {"SMTP_HOST": "127.0.0.1", "SMTP_SECURITY": "none", "MAIL_FROM": "desk@desk.example"}
Panel = Callable[..., AppTest]


@pytest.fixture
def settings(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A desk with a mail server; its people have addresses."""
    for name, value in {"HOME": str(own_home), "DEMO": "true", **MAIL}.items():
        monkeypatch.setenv(f"TRANCHE_{name}", value)
    settings = Settings.load()
    for name in ("viewer", "manager", "admin"):
        connect.installation(settings).people.change(name, email=f"{name}@reader.example")
    return settings


@pytest.fixture
def kept(settings: Settings) -> Keeper:
    """What the person of this name keeps there."""
    return keeper(settings)


def panel(number: int, person: str = "manager") -> AppTest:
    """The panel Mail of a view."""
    desk = VIEWS.opened(opened("audience", person, project="demo", slicer="delivery"))
    return VIEWS.press(desk, f"view_do_mail_{number}")


def texts(desk: AppTest) -> str:
    """What is written on the screen, without what Markdown needs."""
    written = "\n".join(element.value for element in (*desk.markdown, *desk.caption, *desk.info, *desk.error))
    return written.replace("\\", "")


def test_mentions_are_mailed(kept: Keeper, settings: Settings) -> None:
    """A comment is mailed to those whom it mentions, once, however often it is changed afterwards; to nobody
    else, and not to its author."""
    view = kept("manager").views.save("demo", "delivery", "Week", WEEK, is_shared=True)
    desk = VIEWS.opened(opened("audience", "manager", project="demo", slicer="delivery"))
    VIEWS.press(desk, f"view_do_comments_{view.id}")
    desk.text_input(key=f"view_{view.id}_note_text_0").set_value("@viewer and @manager: look")
    VIEWS.submit(desk, "Add comment")
    (comment,) = kept("viewer").notes.on_views("demo", "delivery")[view.id]
    VIEWS.press(desk, f"view_{view.id}_edit_{comment.id}")
    desk.text_input(key=f"view_{view.id}_note_text_{comment.id}").set_value("@viewer and @admin: look")
    VIEWS.submit(desk, "Save comment")
    engine = connect.installation(settings).access.store.engine
    waiting = Outbox(engine, "").waiting(datetime.now(UTC))
    assert [message.recipient for message in waiting] == ["viewer@reader.example", "admin@reader.example"]
    mail = message_from_string(waiting[0].body, policy=policy.default)
    assert mail["Subject"] == "Max Manager mentions you in a comment"


def test_a_view_is_mailed(kept: Keeper) -> None:
    """The form has a view mailed at a time in a zone; the panel says when it comes next, sends one
    now and says so, and stops it."""
    view = kept("manager").views.save("demo", "delivery", "Week", WEEK)
    desk = panel(view.id)
    zone = desk.selectbox(key=f"view_mail_zone_{view.id}")
    assert {"Zurich, Europe · UTC+1", "Zurich, Europe · UTC+2", "UTC"} & {*zone.options} > {"UTC"}
    zone.set_value("Europe/Zurich")
    desk.checkbox(key=f"view_mail_new_{view.id}").check()
    next(button for button in desk.button if button.label == "Mail me this view").click()
    desk = VIEWS.opened(desk)
    (mail,) = kept("manager").mails.mine()
    assert (mail.pace, mail.zone, mail.minute, mail.only_new, mail.with_snapshot) == (
        "daily", "Europe/Zurich", 480, True, False,
    )  # fmt: skip
    assert "Daily at 08:00 (Europe/Zurich), to manager@" in texts(desk)
    assert "08:00 (Europe/Zurich)" in texts(desk) and "Next mail" in texts(desk)
    assert not [text_input for text_input in desk.text_input if text_input.label == "To"]
    desk.button(key=f"view_mail_now_{mail.id}").click()
    desk = VIEWS.opened(desk)
    assert "A mail is on its way" in texts(desk) and "Next mail" not in texts(desk)
    desk.button(key=f"view_mail_stop_{mail.id}").click()
    VIEWS.opened(desk)
    assert kept("manager").mails.mine() == []


def test_without_an_address(settings: Settings, kept: Keeper) -> None:
    """Who has no address is told who sets it, and has no form."""
    connect.installation(settings).people.change("manager", email="")
    desk = panel(kept("manager").views.save("demo", "delivery", "Week", WEEK).id)
    assert "an administrator sets it" in texts(desk)
    assert "Mail me this view" not in [button.label for button in desk.button]


def test_people_without_an_account(kept: Keeper) -> None:
    """Who may share names an address without an account; one that is none is refused, and nothing is lost."""
    view = kept("admin").views.save("demo", "delivery", "Week", WEEK)
    desk = panel(view.id, "admin")
    for address in ("not an address", "eve@partner.example"):
        desk.text_input(key=f"view_mail_to_{view.id}").set_value(address)
        next(button for button in desk.button if button.label == "Mail me this view").click()
        desk = VIEWS.opened(desk)
        assert ("Mails can't be sent" in texts(desk)) == (" " in address)
    assert [mail.recipient for mail in kept("admin").mails.mine()] == ["eve@partner.example"]


def test_a_desk_without_a_mail_server(monkeypatch: pytest.MonkeyPatch, kept: Keeper) -> None:
    """Nothing about mail is on its screens."""
    kept("manager").views.save("demo", "delivery", "Week", WEEK)
    monkeypatch.setenv("TRANCHE_SMTP_HOST", "")
    desk = VIEWS.opened(of_delivery())
    assert not [menu for menu in desk.get("menu_button") if "Mail Week" in str(menu.options)]
    assert "Your mails" not in [header.value for header in opened("access", "manager").header]


def test_the_list_on_access(kept: Keeper) -> None:
    """A person sees their mails, an administrator everybody's, and that one is on its way; a switch
    has alerts mailed."""
    view = kept("manager").views.save("demo", "delivery", "Secret plans", WEEK)
    kept("manager").mails.add(view.id, Schedule("weekly", "UTC", 480, 2))
    desk = opened("access", "manager")
    (toggle,) = [toggle for toggle in desk.toggle if "alerts" in toggle.label]
    toggle.set_value(True).run()
    assert sorted(mail.pace for mail in kept("manager").mails.mine()) == ["alerts", "weekly"]
    desk = opened("access", "manager")
    table = desk.dataframe[-1].value
    assert set(table["Mail"]) == {"Alerts", "Secret plans"} and "Person" not in table
    assert "On Wednesdays at 08:00 (UTC)" in set(table["Comes"])
    desk = opened("access", "admin")
    desk.session_state["access_shown"] = "Mails"
    table = desk.run().dataframe[-1].value
    assert set(table["Mail"]) == {"Alerts", "A view of demo/delivery"}
    assert set(table["Person"]) == {"manager"}
    (weekly,) = [mail for mail in kept("manager").mails.mine() if mail.pace == "weekly"]
    kept("manager").mails.send_now(weekly.id)
    assert "on its way" in set(opened("access", "manager").dataframe[-1].value["Next"])
    assert len(opened("access", "viewer").dataframe) == 0
