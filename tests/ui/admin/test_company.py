"""The company sign-in on screen, without a browser: the button, what failed, and such people in Access."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from peopled import people_in
from provider import CLIENT, toml_of
from streamlit.testing.v1 import AppTest

from lib.ui.kit import sign_in_methods

DESK = str(Path(__file__).parents[3] / "lib" / "desk.py")
ISSUER = "https://login.example"
Visit = Callable[..., AppTest]


@pytest.fixture
def visit(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """A visit to a demo with a company sign-in; what the provider said of the visitor, and a parameter."""
    (own_home / "tranche.toml").write_text(
        "demo = true\n" + toml_of(ISSUER, "traders manager demo/delivery read")
    )
    (own_home / "tranche.toml").chmod(0o600)
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))

    def visited(claims: dict[str, Any] | None = None, **params: str) -> AppTest:
        monkeypatch.setattr(sign_in_methods, "_claims", lambda: claims or {})
        desk = AppTest.from_file(DESK, default_timeout=60)
        for name, value in params.items():
            desk.query_params[name] = value
        desk.run()
        assert not desk.exception
        return desk

    return visited


def claims(**others: Any) -> dict[str, Any]:
    """What the provider says of Bea, who has just signed in."""
    told = {
        "is_logged_in": True,
        "iss": ISSUER,
        "aud": CLIENT,
        "sub": "b-2",
        "nonce": f"n{time.perf_counter_ns()}",
    }
    told |= {"exp": time.time() + 300, "email": "bea@corp.example", "name": "Bea Buyer"}
    return told | {"groups": ["traders"]} | others


def keys(desk: AppTest) -> set[str | None]:
    """The keys of the buttons and fields."""
    return {element.key for element in (*desk.button, *desk.text_input, *desk.selectbox)}


def has_form(desk: AppTest) -> bool:
    """Whether name and password can be typed."""
    return [field.label for field in desk.text_input] == ["Name", "Password"]


def test_a_second_way_in(visit: Visit) -> None:
    """The company's button stands below name and password, in the words of the settings."""
    desk = visit()
    assert has_form(desk) and "company_sign_in" in keys(desk)
    assert desk.button(key="company_sign_in").label == "Sign in with Example Corp"
    assert not desk.error


def test_no_second_way_in(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a provider there is no such button, whatever a browser claims or an address says."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))
    monkeypatch.setattr(sign_in_methods, "_claims", claims)
    desk = AppTest.from_file(DESK, default_timeout=60)
    desk.query_params["sign_in"] = "failed"
    desk.run()
    assert has_form(desk)
    assert not {"company_sign_in", "company_leave", "slicer"} & keys(desk)
    assert not desk.error


@pytest.mark.parametrize(
    ("outcome", "sentence"), [*sign_in_methods.OUTCOMES.items(), ("<b>", sign_in_methods.OUTCOMES["failed"])]
)
def test_what_failed_is_said(visit: Visit, outcome: str, sentence: str) -> None:
    """What failed on the way is a sentence; the address has it no more; name and password work."""
    desk = visit(sign_in=outcome)
    assert [error.value.replace("\\", "") for error in desk.error] == [sentence]
    assert "sign_in" not in desk.query_params
    desk.button(key="demo_viewer").click().run()
    assert "slicer" in keys(desk)


def test_who_comes_from_the_provider(visit: Visit) -> None:
    """Whoever the provider sends is signed in, and sees what their rule grants."""
    desk = visit(claims())
    assert desk.selectbox(key="slicer").options == ["delivery"]
    assert "demo" in desk.query_params["project"]
    assert desk.selectbox(key="slicer").options == ["delivery"]


def test_without_a_rule(visit: Visit) -> None:
    """Without a rule there is a sentence, a way out of the company account, and nothing of the data."""
    desk = visit(claims(groups=["staff"]))
    assert "no rule of this desk gives your account access" in desk.error[0].value
    assert has_form(desk) and "company_leave" in keys(desk)
    assert "delivery" not in str(desk)
    assert desk.run().error, "until the tab is reloaded"


def test_a_used_token_says_nothing(visit: Visit) -> None:
    """A browser that comes again after its session ended gets the sign-in page, without a complaint."""
    told = claims()
    assert "slicer" in keys(visit(told))
    again = visit(told)
    assert "company_sign_in" in keys(again)
    assert not again.error


def test_such_people_in_access(visit: Visit, own_home: Path) -> None:
    """Access says where such people come from; their rights and password can't be set, but they blocked."""
    bea = visit(claims())
    desk = visit()
    desk.button(key="demo_admin").click().run()
    desk.switch_page("../pages/access.py").run()
    desk.segmented_control(key="access_shown").set_value("People").run()
    ways = dict(zip(desk.dataframe[0].value["User name"], desk.dataframe[0].value["Sign-in"], strict=True))
    assert ways["bea@corp.example"] == "Company (login.example)"
    assert ways["viewer"] == "Password"
    desk.session_state["person_open"] = "bea@corp.example"
    desk.run()
    assert not {"person_save", "person_set_password", "person_new_password"} & keys(desk)
    assert "Signs in with an account of https" in " ".join(text.value for text in desk.markdown)
    desk.button(key="person_block").click().run()
    assert not desk.exception
    assert people_in(own_home).get("bea@corp.example").is_shut_out
    assert has_form(bea.run())
    assert "account is blocked here" in visit(claims()).error[0].value
