"""The sign-in is streamlit-authenticator's, by its public classes, over our people, sign-ins and cookie."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit_authenticator as stauth
from opening import nodes
from peopled import people_in
from streamlit.testing.v1 import AppTest
from test_desk import DESK, field, is_signed_in, sign_in

from lib.people import People
from lib.people.sessions import Sessions
from lib.ui.kit.sign_in import Authenticator
from lib.wire.errors import StoreUnavailable

ROOT = Path(__file__).parents[2]
FILES = sorted([ROOT / "app.py", *(ROOT / "lib").rglob("*.py"), *(ROOT / "pages").glob("*.py")])
PUBLIC = {"Authenticate", "Hasher", "Validator"}
LIBRARY = "streamlit_authenticator"


@pytest.fixture
def desk(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AppTest]:
    """A fresh visit to the desk over a data directory of one's own."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    return lambda: AppTest.from_file(DESK, default_timeout=60).run()


def used_of_the_library(path: Path) -> set[str]:
    """What a file takes from streamlit-authenticator, by whatever way."""
    if LIBRARY not in path.read_text():
        return set()
    tree, names = ast.parse(path.read_text()), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(LIBRARY):
            names |= {f"{node.module}: {alias.name}" for alias in node.names}
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith(f"{LIBRARY}.")}
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("stauth", LIBRARY, "_library()"):
            names.add(node.attr)
    return names


def test_the_classes_are_the_librarys_public_ones() -> None:
    """No file takes anything else of streamlit-authenticator than three classes that its package exports."""
    used = {path.relative_to(ROOT).as_posix(): used_of_the_library(path) for path in FILES}
    assert set().union(*used.values()) == PUBLIC
    assert {path for path, names in used.items() if names} == {
        "lib/people/passwords.py",
        "lib/ui/kit/sign_in.py",
        "lib/ui/kit/sign_in_methods.py",
    }
    assert all(isinstance(getattr(stauth, name), type) for name in PUBLIC)


def test_what_it_overrides_is_there(desk: Callable[[], AppTest]) -> None:
    """The library has what is put into place of its own, under the same public names."""
    theirs, ours = stauth.Authenticate({"usernames": {}}), desk().session_state["authenticator"]
    assert isinstance(ours, Authenticator) and isinstance(ours, stauth.Authenticate)
    assert {*vars(theirs)} == {*vars(ours)}
    for name in ("get_cookie", "set_cookie", "delete_cookie"):
        assert callable(getattr(theirs.cookie_controller, name))
        assert callable(getattr(ours.cookie_controller, name))
    assert callable(theirs.authentication_controller.login)
    assert type(ours).login is stauth.Authenticate.login and type(ours).logout is stauth.Authenticate.logout


def test_no_script_is_asked_for_cookies(desk: Callable[[], AppTest]) -> None:
    """The library's own cookie manager, a frame that reads cookies by script, is not drawn for a moment."""
    visit = desk()
    for step in (
        lambda: visit,
        lambda: sign_in(visit, "manager", "wrong"),
        lambda: sign_in(visit, "manager"),
    ):
        kinds = {getattr(node, "type", "") for node in nodes(step()._tree)}
        assert "button" in kinds and "component_instance" not in kinds
        assert "init" not in visit.session_state, "the name of its widget"


def state_of(visit: AppTest) -> dict[str, Any]:
    """What users of the library know of the session state."""
    names = ("authentication_status", "username", "name", "email", "roles")
    return {name: visit.session_state[name] for name in names}


@pytest.mark.parametrize("typed", ["manager", "MANAGER", " Manager "])
@pytest.mark.parametrize("click", [False, True], ids=["form", "demo"])
def test_the_session_state_is_the_librarys(desk: Callable[[], AppTest], typed: str, click: bool) -> None:
    """A refusal, a sign-in by each way and a sign-out set the keys that its users know; names ignore case."""
    visit = sign_in(desk(), typed, "wrong")
    assert state_of(visit)["authentication_status"] is False
    visit = visit.button(key="demo_manager").click().run() if click else sign_in(visit, typed)
    assert state_of(visit) == {
        "authentication_status": True,
        "username": "manager",
        "name": "Max Manager",
        "email": None,
        "roles": ["manager"],
    }
    visit.get("menu_button")[0].click("Sign out").run()
    assert set(state_of(visit).values()) == {None} and not is_signed_in(visit)


def test_white_space_around_a_password_counts_in_the_form_too(
    desk: Callable[[], AppTest], own_home: Path
) -> None:
    """The library strips what is typed as a password; here it is checked as it was typed."""
    people_in(own_home).set_password("manager", " a long one ")
    assert not is_signed_in(sign_in(desk(), "manager", "a long one"))
    assert is_signed_in(sign_in(desk(), "manager", " a long one "))


@pytest.mark.parametrize("way", [(People, "check"), (Sessions, "begin")], ids=["check", "begin"])
def test_the_database_is_gone(
    desk: Callable[[], AppTest], monkeypatch: pytest.MonkeyPatch, way: tuple[type, str]
) -> None:
    """Whoever signs in meanwhile gets a sentence, is not half signed in, and gets in once it is back."""

    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    visit = desk()
    with monkeypatch.context() as patch:
        patch.setattr(*way, away)
        for attempt in (
            lambda: sign_in(visit, "manager"),
            lambda: visit.button(key="demo_admin").click().run(),
        ):
            attempt()
            assert not is_signed_in(visit) and "away" in visit.error[0].value
            assert not visit.session_state["authentication_status"]
            assert "session_ends" not in visit.session_state
        assert field(visit, "Name").value == "manager"
    assert is_signed_in(sign_in(visit, "manager"))
