"""The desk's script: who gets in, what they see around the screens, and when they are out again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.people import Grant, People, Person, attempts
from lib.people.sessions import Sessions
from lib.serving.front import ADDRESS_HEADER
from lib.ui.kit import sign_in as sign_in_page
from lib.ui.kit.sign_in import AUTHENTICATOR as KEY
from lib.wire.errors import StoreUnavailable

DESK = str(Path(__file__).parent.parent / "lib" / "desk.py")
PASSWORD = "demo"
Desk = Callable[[], AppTest]


@pytest.fixture
def desk(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A fresh visit to the desk over a data directory of one's own."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    return lambda: AppTest.from_file(DESK, default_timeout=60).run()


@pytest.fixture
def people(own_home: Path) -> People:
    """Those who may sign in."""
    return people_in(own_home)


def field(visit: AppTest, label: str) -> Any:
    """The field of the sign-in form with this label."""
    return next(field for field in visit.text_input if field.label.strip() == label)


def sign_in(visit: AppTest, name: str, password: str = PASSWORD) -> AppTest:
    """Type name and password, and submit."""
    field(visit, "Name").set_value(name)
    field(visit, "Password").set_value(password)
    return next(button for button in visit.button if button.label == "Sign in").click().run()


def is_signed_in(visit: AppTest) -> bool:
    """Whether the frame is there, and not the sign-in."""
    assert not visit.exception
    is_inside = "slicer" in {element.key for element in visit.selectbox}
    assert is_inside != ("Sign in" in {button.label for button in visit.button})
    return is_inside


def test_nobody_sees_anything(desk: Desk) -> None:
    """Without signing in there is a form and nothing of the data."""
    visit = desk()
    assert not is_signed_in(visit)
    assert "delivery" not in str(visit)


def test_signing_in(desk: Desk) -> None:
    """With name and password the frame shows project, slicer, and how far the data goes."""
    visit = sign_in(desk(), "Manager ")
    assert is_signed_in(visit)
    assert "demo" in visit.query_params["project"]
    assert visit.selectbox(key="slicer").value == "curation"
    assert any("UTC+0 by default" in caption.value for caption in visit.caption)


@pytest.mark.parametrize(("name", "password"), [("manager", "wrong"), ("nobody", "demo")])
def test_wrong_password(desk: Desk, name: str, password: str) -> None:
    """A wrong password and an unknown name get the same words; the typed name stays, the password not."""
    visit = sign_in(desk(), name, password)
    assert [error.value for error in visit.error] == ["Incorrect name or password."]
    assert (field(visit, "Name").value, field(visit, "Password").value) == (name, "")


def test_nothing_typed(desk: Desk) -> None:
    """An empty form says what is missing."""
    assert sign_in(desk(), "", "").error[0].value == "Type your name and your password."


def test_guessing_is_slowed_down(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some failures the form says how long to wait, even to the right password."""
    monkeypatch.setattr(attempts, "FIRST_DELAY", attempts.LONGEST_DELAY)
    headers = property(lambda _: {ADDRESS_HEADER: "203.0.113.7"})
    monkeypatch.setattr(type(st.context), "headers", headers)
    visit = desk()
    for _ in range(5):
        sign_in(visit, "manager", "wrong")
    assert "try again in" in sign_in(visit, "manager").error[0].value


@pytest.mark.parametrize("name", ["viewer", "manager", "admin"])
def test_demo_people_by_a_click(desk: Desk, name: str) -> None:
    """In demo mode each of the three people is one click away, and the page says that it is a demo."""
    visit = desk()
    assert "demo" in visit.info[0].value
    assert is_signed_in(visit.button(key=f"demo_{name}").click().run())


def test_no_demo_people_outside_demo_mode(desk: Desk, own_home: Path) -> None:
    """Outside demo mode nobody is offered."""
    (own_home / "tranche.toml").unlink()
    visit = desk()
    assert (len(visit.info), [button.label for button in visit.button]) == (0, ["Sign in"])


def test_only_granted_slicers(desk: Desk) -> None:
    """A person is offered the slicers that they may see, no others."""
    visit = sign_in(desk(), "viewer")
    assert visit.selectbox(key="slicer").options == ["delivery"]


def frame_place(visit: AppTest) -> int:
    """How many elements stand before the frame."""
    return next(
        place
        for place, block in visit.main.children.items()
        if any(getattr(element, "key", None) == "slicer" for element in block)
    )


def test_the_frame_stays_in_its_place(desk: Desk) -> None:
    """The frame has the same place while the cookie is set and after: a long wait shows no shadow of it."""
    visit = sign_in(desk(), "manager")
    before = frame_place(visit)
    visit.session_state[sign_in_page.COOKIE] = sign_in_page.CookieRequest("/auth/session", "x")
    assert frame_place(visit.run()) == before
    visit.session_state[sign_in_page.COOKIE] = None
    assert frame_place(visit.run()) == before


def test_nothing_granted(desk: Desk, people: People) -> None:
    """Who may see nothing is told so, and can sign out."""
    people.revoke("viewer", [Grant("demo", "delivery")])
    visit = sign_in(desk(), "viewer")
    assert not visit.exception
    assert "none that you can see" in visit.info[0].value


def test_a_grant_taken_away(desk: Desk, people: People) -> None:
    """With the rerun after a grant is taken away its slicer is called missing, until another is chosen."""
    visit = sign_in(desk(), "manager")
    people.revoke("manager", [Grant("demo")])
    people.grant("manager", [Grant("demo", "delivery")])
    picker = visit.run().selectbox(key="slicer")
    assert "“curation” of the project “demo” does not exist or is not visible" in visit.warning[0].value
    picker.select("delivery").run()
    assert visit.selectbox(key="slicer").options == ["delivery"]
    assert not visit.warning


def test_a_removed_person_is_out(desk: Desk, people: People) -> None:
    """A person who is removed is out with the next rerun."""
    visit = sign_in(desk(), "manager")
    people.remove("manager")
    assert not is_signed_in(visit.run())


def test_a_changed_password_signs_out(desk: Desk, people: People) -> None:
    """A changed password ends the sessions that the old one opened, and the new one opens another."""
    visit = sign_in(desk(), "manager")
    people.set_password("manager", "another")
    assert not is_signed_in(visit.run())
    assert is_signed_in(sign_in(visit, "manager", "another"))


def test_a_page_looks_once_who_is_signed_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """All parts of a page share one look into the database, and the next run has its own."""
    monkeypatch.setattr(sign_in_page, "SHARED_SECONDS", 3600)
    visit, looks, look = sign_in(desk(), "manager").switch_page("../pages/audience.py"), [], Sessions.person

    def counted(self: Sessions, username: str, ends: float) -> Person | None:
        looks.append(username)
        return look(self, username, ends)

    monkeypatch.setattr(Sessions, "person", counted)
    for runs in (1, 2):
        visit.run()
        assert not visit.exception and looks == ["manager"] * runs


def test_the_menu_shows_what_is_new(desk: Desk) -> None:
    """The newest part of the changelog opens in the desk, without links to files of the project."""
    visit = sign_in(desk(), "viewer")
    visit.get("menu_button")[0].click("What's new").run()
    assert not visit.exception
    (text,) = [element.value for element in visit.markdown if "in development" in element.value]
    assert "Slicers from files" in text and "](" not in text


def test_the_menu_leads_to_ones_tokens(desk: Desk) -> None:
    """Anybody's tokens are a click away, whatever screen is open."""
    visit = sign_in(desk(), "viewer")
    visit.get("menu_button")[0].click("Your tokens").run()
    assert not visit.exception
    assert visit.title[0].value == "Access"


def test_signing_out_without_the_database(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever signs out while the database is away is signed out in this tab, and told of the others."""
    visit = sign_in(desk(), "manager")

    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(Sessions, "end", away)
    visit.get("menu_button")[0].click("Sign out").run()
    assert not visit.exception
    assert not is_signed_in(visit)
    assert "not in others" in visit.error[0].value


def test_a_broken_slicer_is_a_sentence(desk: Desk, own_home: Path) -> None:
    """A slicer that vanishes under a signed-in person is a sentence, not a traceback."""
    visit = sign_in(desk(), "viewer")
    (own_home / "warehouse" / "demo" / "delivery" / "manifest.json").write_text("{}")
    visit.run()
    assert not visit.exception


def test_a_page_alone_shows_nothing(desk: Desk) -> None:
    """A page's file that is run by itself shows the sign-in."""
    for page in sorted((Path(DESK).parent.parent / "pages").glob("*.py")):
        process_lock = AppTest.from_file(str(page), default_timeout=60).run()
        assert [field.label for field in process_lock.text_input] == ["Name", "Password"], page.name
        assert not process_lock.selectbox


SIGNED_OUT = {"name", "username", "authentication_status", "email", "roles", "logout"}
UNNAMED = "$$ID-"  # Streamlit's own name of a widget without a key
DEMO_BUTTONS = {f"demo_{name}" for name in ("viewer", "manager", "admin")}
OF_THE_SIGN_IN = {"FormSubmitter:sign_in-Sign in", "screen", KEY} | DEMO_BUTTONS
LEFT_BEHIND = {"token_made": {"text": "trn_dea_secret"}, "np_name": "A draft", "deals_catalog": {"kept": 1}}


def state_of(visit: AppTest) -> dict[str, Any]:
    """Everything in the session's state, what widgets hold as well."""
    return dict(visit.session_state.to_dict())


@pytest.mark.parametrize("how", ["signed out", "another password", "removed", "time"])
def test_nothing_is_left_for_the_next_person(desk: Desk, people: People, own_home: Path, how: str) -> None:
    """Signed out or at its end, no key of the session's state holds anything of the person."""
    visit = sign_in(desk(), "manager")
    visit.switch_page("../pages/access.py").run()
    visit.text_input(key="token_name").set_value("Half typed").run()
    for key, value in LEFT_BEHIND.items():
        visit.session_state[key] = value
    ends = visit.session_state["session_ends"]
    if how == "another password":
        people.set_password("manager", "another")
    elif how == "removed":
        people.remove("manager")
    elif how == "time":
        visit.session_state["session_ends"] = 1.0
    else:
        Sessions(people).end("manager", ends)
    assert not is_signed_in(visit.run())
    left = state_of(visit)
    assert {key for key in left if not key.startswith(UNNAMED)} <= SIGNED_OUT | OF_THE_SIGN_IN
    controller = left.pop(KEY).authentication_controller
    assert controller.authentication_model.credentials == {"usernames": {}}
    assert {key: value for key, value in left.items() if value} == {"logout": True}


def test_another_person_in_the_same_tab_begins_empty(desk: Desk) -> None:
    """Who signs in finds nothing in the session's state but their own sign-in, however it got there."""
    visit = desk()
    for key, value in LEFT_BEHIND.items():
        visit.session_state[key] = value
    visit = sign_in(visit, "viewer")
    assert not LEFT_BEHIND.keys() & state_of(visit).keys()
    fresh = state_of(sign_in(desk(), "viewer")).keys()
    assert state_of(visit).keys() == fresh
