"""The screen Access: tokens made, shown once, listed and revoked; for an administrator, people."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import PASSWORD
from peopled import people_in
from streamlit.testing.v1 import AppTest

from lib.people import DealsGrant, Grant, Person
from lib.people.tokens.access import Access
from lib.people.tokens.store import Token
from lib.serving import connect
from lib.settings import Settings
from lib.ui.admin import access as screen
from lib.ui.admin import person_drawer, selection_table, token_list
from lib.wire.errors import AccessError, BadRequest

DESK = str(Path(__file__).parents[3] / "lib" / "desk.py")
NOW = dt.datetime(2026, 11, 21, 9, 0, tzinfo=dt.UTC)
SLICERS = (("demo", "curation"), ("demo", "delivery"))
Visit = Callable[[str], AppTest]


@pytest.fixture
def access(own_home: Path) -> Access:
    """Tokens and people of a data directory of one's own."""
    return connect.installation(Settings(home=own_home, demo=True)).access


@pytest.fixture
def visit(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """The screen as a demo person sees it."""
    monkeypatch.setenv("TRANCHE_HOME", str(own_home))

    def visited(person: str) -> AppTest:
        desk = AppTest.from_file(DESK, default_timeout=60).run()
        desk.button(key=f"demo_{person}").click().run()
        return clean(desk.switch_page("../pages/access.py").run())

    return visited


def clean(desk: AppTest) -> AppTest:
    """The screen, once it is sure that nothing went wrong on it."""
    assert not desk.exception
    return desk


def words(desk: AppTest) -> str:
    """What is said in text."""
    return " ".join(text.value for text in desk.markdown).replace("\\", "")


def make(desk: AppTest, name: str = "nightly", service: str = "reporting") -> str:
    """Create a token; its text as the dialog shows it."""
    desk.text_input(key="token_name").set_value(name)
    desk.selectbox(key="token_service").set_value(service)
    clean(desk.button(key="token_make").click().run())
    return desk.code[0].value


def token(number: int, **more: object) -> Token:
    """A token as it is kept."""
    plain: dict[str, object] = {
        "prefix": "trn_rep_abcd", "owner": "ada", "name": f"t{number}", "service": "reporting",
        "kind": "permanent", "grants": (), "created": NOW, "expires": None, "last_used": None,
        "revoked": None,
    }  # fmt: skip
    return Token(id=number, **{**plain, **more})  # type: ignore[arg-type]


def test_a_token_is_shown_once(visit: Visit, access: Access) -> None:
    """A new token opens its service and no other; once it is said to be copied, nothing shows it any more."""
    desk = visit("manager")
    text = make(desk)
    caller = access.caller(text, "reporting")
    assert (caller.person.username, caller.token.name) == ("manager", "nightly")
    with pytest.raises(AccessError):
        access.caller(text, "deals")
    assert dt.timedelta(days=89) < caller.token.expires - dt.datetime.now(dt.UTC) < dt.timedelta(days=91)
    clean(desk.button(key="token_copied").click().run())
    assert text not in str(desk)
    assert desk.dataframe[0].value["Begins"][0] == f"{text[:12]}…"


def test_a_second_click_makes_no_second_token(visit: Visit, access: Access) -> None:
    """Until the first token is said to be copied, the button makes none."""
    desk = visit("manager")
    text = make(desk)
    desk.text_input(key="token_name").set_value("again")
    clean(desk.button(key="token_make").click().run())
    assert desk.code[0].value == text
    assert [t.name for t in access.store.everything("manager") if t.kind == "permanent"] == ["nightly"]


def test_a_token_for_one_slicer(visit: Visit, access: Access) -> None:
    """A token opens the slicers that were chosen and no others; for deals there is nothing to choose."""
    desk = visit("manager")
    assert desk.multiselect(key="token_opens").options == ["demo", "demo/curation", "demo/delivery"]
    desk.multiselect(key="token_opens").set_value(["demo/curation"])
    caller = access.caller(make(desk), "reporting")
    assert caller.may_see("demo", "curation")
    assert not caller.may_see("demo", "delivery")
    clean(desk.button(key="token_copied").click().run())
    desk.selectbox(key="token_service").set_value("deals").run()
    assert not [box for box in desk.multiselect if box.key == "token_opens"]


def test_a_token_needs_a_name(visit: Visit, access: Access) -> None:
    """Without a word on what it is for no token is made."""
    desk = visit("manager")
    clean(desk.button(key="token_make").click().run())
    assert "Name what the token is for" in desk.error[0].value
    assert not [t for t in access.store.everything("manager") if t.kind == "permanent"]


def test_revoking(visit: Visit, access: Access) -> None:
    """A revoked token opens nothing from then on, and leaves the list of those that do."""
    text = access.issue("manager", "reporting", "old", None)
    desk = visit("manager")
    desk.session_state[
        selection_table.table_key(
            "tokens", [t.id for t in access.store.everything("manager") if t.name == "old"]
        )
    ] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    clean(desk.run().button(key="tokens_revoke").click().run())
    assert "old" in " ".join(text.value for text in desk.markdown)
    clean(desk.button(key="tokens_revoke_sure").click().run())
    with pytest.raises(AccessError):
        access.caller(text, "reporting")
    assert not visit("manager").dataframe


def test_whose_tokens(visit: Visit, access: Access) -> None:
    """One sees one's own tokens; an administrator everybody's, with their owners, and people."""
    access.issue("manager", "deals", "m", None)
    access.issue("viewer", "reporting", "v", None)
    mine, all_of_them = visit("viewer"), visit("admin")
    assert list(mine.dataframe[0].value["Name"]) == ["v"]
    assert "Owner" not in mine.dataframe[0].value
    assert set(all_of_them.dataframe[0].value["Owner"]) == {"manager", "viewer"}
    assert not [group for group in mine.button_group if group.key == "access_shown"]
    assert all_of_them.button_group(key="access_shown").options == ["Tokens", "Share links", "People", "Log"]


def test_nobody_revokes_for_others(visit: Visit, access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a screen offered, only one's own tokens are revoked; an administrator's act counts for all."""
    text = access.issue("admin", "reporting", "a", None)
    tokens = access.store.everything("admin")
    for username, kept in (("viewer", True), ("admin", False)):
        monkeypatch.setattr(token_list.sign_in, "person", lambda name=username: access.people.get(name))
        token_list.revoke(access, tokens)
        opened = [t for t in access.store.everything("admin") if t.name == "a" and t.revoked is None]
        assert bool(opened) is kept
    with pytest.raises(AccessError):
        access.caller(text, "reporting")


def test_what_is_listed() -> None:
    """The list has the permanent ones that open something; on request all."""
    tokens = [
        token(1),
        token(2, revoked=NOW),
        token(3, kind="temporary"),
        token(4, expires=NOW - dt.timedelta(days=1)),
    ]
    assert [t.id for t in token_list.visible_tokens(tokens, NOW, with_all=False)] == [1]
    assert [t.id for t in token_list.visible_tokens(tokens, NOW, with_all=True)] == [1, 2, 3, 4]
    frame = token_list.table(
        [token(5, grants=(Grant("demo", "curation"),), last_used=NOW)], NOW, with_owner=True
    )
    assert frame.loc[0, ["Owner", "Opens", "State", "Begins"]].tolist() == [
        "ada",
        "demo/curation",
        "active",
        "trn_rep_abcd…",
    ]


def test_what_a_token_may_be_cut_to() -> None:
    """Whole projects that are granted, and slicers; somebody with one slicer alone is offered that."""
    whole = Person("ada", "Ada", None, "viewer", (Grant("demo"),))
    person = Person("bob", "Bob", None, "viewer", (Grant("demo", "curation"),))
    assert screen.grant_options(whole, SLICERS) == ["demo", "demo/curation", "demo/delivery"]
    assert screen.grant_options(person, SLICERS[:1]) == ["demo/curation"]


def test_how_a_script_uses_it() -> None:
    """The example names the address and no token; each service has its own header."""
    assert screen.usage("deals", "http://h").endswith("http://h/api/supply_deals/")
    assert "Bearer $TRANCHE_TOKEN" in screen.usage("deals", "http://h")
    assert screen.usage("reporting", "http://h").endswith("http://h/API/v2/info")
    assert screen.ends(None) == "until it is revoked"
    assert screen.ends(dt.timedelta(days=30), NOW) == "until 21 December 2026"


def test_adding_a_person(visit: Visit, access: Access) -> None:
    """An administrator adds a person, who can sign in then, and sees what they were granted."""
    desk = people_of(visit)
    desk.button(key="people_add").click().run()
    desk.text_input(key="person_username").set_value("Nora")
    desk.text_input(key="person_name").set_value("Nora New")
    desk.text_input(key="person_password").set_value("long enough")
    desk.multiselect(key="person_grants_new").set_value(["demo/curation"])
    clean(desk.button(key="person_add_sure").click().run())
    nora = access.people.check("nora", "long enough")
    assert nora is not None
    assert (nora.name, nora.role, nora.grants) == ("Nora New", "viewer", (Grant("demo", "curation"),))


def test_a_short_password(visit: Visit, access: Access) -> None:
    """A password that is too short is said to be, and nobody is added."""
    desk = people_of(visit)
    desk.button(key="people_add").click().run()
    desk.text_input(key="person_username").set_value("nora")
    desk.text_input(key="person_password").set_value("short")
    clean(desk.button(key="person_add_sure").click().run())
    said = words(desk)
    assert "At least 8 characters" in said
    assert "Not added. To fix: Password." in said
    assert desk.text_input(key="person_username").value == "nora"
    assert access.people.get("nora") is None


def test_all_that_is_wrong_with_a_new_person_is_said_at_once(visit: Visit, access: Access) -> None:
    """User name, name, e-mail and password are judged together, each beside its field; all stays typed."""
    typed = {"username": "No Name!", "name": "a\u202eb", "email": "bad mail", "password": "short"}
    desk = people_of(visit)
    desk.button(key="people_add").click().run()
    for field, text in typed.items():
        desk.text_input(key=f"person_{field}").set_value(text)
    clean(desk.button(key="person_add_sure").click().run())
    said = words(desk)
    for fault in (
        "Lower-case letters",
        "reading direction",
        "Not an e-mail address",
        "At least 8 characters",
        "Not added. To fix: User name, Name, E-mail, Password",
    ):
        assert fault in said
    assert {field: desk.text_input(key=f"person_{field}").value for field in typed} == typed
    assert len(access.people.everyone()) == 3
    desk.text_input(key="person_username").set_value("admin").run()
    assert "There is a person 'admin' already" in words(desk)


def test_changing_a_person(visit: Visit, access: Access) -> None:
    """Role, grants and permissions are changed together; what is not named any more is taken away."""
    desk = open_person(people_of(visit), "manager")
    desk.button_group(key="person_role_manager").set_value("viewer")
    desk.multiselect(key="person_grants_manager").set_value(["demo/delivery"])
    desk.checkbox(key="person_shares_manager").set_value(True)
    clean(desk.button(key="person_save").click().run())
    changed = access.people.get("manager")
    assert changed is not None
    assert (changed.role, changed.grants) == ("viewer", (Grant("demo", "delivery"),))
    assert changed.may_share


def test_a_new_password(visit: Visit, access: Access) -> None:
    """Another password opens, the old one does not."""
    desk = open_person(people_of(visit), "viewer")
    desk.text_input(key="person_new_password").set_value("quite another").run()
    clean(desk.button(key="person_set_password").click().run())
    assert access.people.check("viewer", PASSWORD) is None
    assert access.people.check("viewer", "quite another") is not None


def test_removing_a_person(visit: Visit, access: Access) -> None:
    """A removed person is gone, and their tokens open nothing."""
    text = access.issue("viewer", "reporting", "v", None)
    desk = open_person(people_of(visit), "viewer")
    clean(desk.button(key="person_remove_sure").click().run())
    assert access.people.get("viewer") is None
    with pytest.raises(AccessError):
        access.caller(text, "reporting")


def test_a_person_needs_a_user_name(visit: Visit) -> None:
    """Without a user name nobody is added, and the drawer says what is missing."""
    desk = clean(people_of(visit).button(key="people_add").click().run())
    clean(desk.button(key="person_add_sure").click().run())
    said = words(desk)
    assert "Type a user name" in said
    assert "Not added. To fix: User name, Password." in said


def test_not_oneself(visit: Visit) -> None:
    """An administrator can neither step down nor remove themselves: somebody has to be left."""
    desk = open_person(people_of(visit), "admin")
    assert desk.button_group(key="person_role_admin").disabled
    assert "another administrator" in " ".join(caption.value for caption in desk.caption)


def test_only_administrators_act(visit: Visit, access: Access) -> None:
    """Who is no administrator any more changes nobody, though the screen is still open."""
    desk = open_person(people_of(visit), "viewer")
    desk.button_group(key="person_role_viewer").set_value("admin")
    access.people.change("admin", "viewer")
    clean(desk.button(key="person_save").click().run())
    viewer = access.people.get("viewer")
    assert viewer is not None
    assert viewer.role == "viewer"


def test_roles_can_be_changed(tmp_path: Path) -> None:
    """A role is changed in the file, and nothing else of the person is; there is no role of another name."""
    people = people_in(tmp_path)
    people.add(Person("ada", "Ada", "ada@desk.example", "viewer", (Grant("demo"),)), "long enough")
    before = people.get("ada")
    assert people.change("ada", "manager").role == "manager"
    after = people.get("ada")
    assert before is not None
    assert after is not None
    assert (after.name, after.email, after.grants, after.added) == (
        before.name, before.email, before.grants, before.added,
    )  # fmt: skip
    with pytest.raises(BadRequest, match="role"):
        people.change("ada", "boss")  # type: ignore[arg-type]
    with pytest.raises(BadRequest, match="person"):
        people.change("bob", "admin")


def test_finding_people() -> None:
    """Every word is found in the name, the user name, the role or the e-mail."""
    people = [Person("ada", "Ada Alpha", None, "admin"), Person("bob", "Bob Beta", "bob@x.example", "viewer")]
    assert screen.matching(people, "alpha ADMIN") == people[:1]
    assert screen.matching(people, "x.example") == people[1:]
    assert list(screen.people_table(people)["May see"]) == ["everything", "nothing yet"]


def test_what_can_be_granted() -> None:
    """Everything, projects, slicers, and what somebody holds though it is not there."""
    assert person_drawer.grant_options(SLICERS, [Grant("gone", "x")]) == [
        "*",
        "demo",
        "demo/curation",
        "demo/delivery",
        "gone/x",
    ]


def people_of(visit: Visit) -> AppTest:
    """The people, as an administrator sees them."""
    return clean(visit("admin").button_group(key="access_shown").set_value("People").run())


def open_person(desk: AppTest, username: str) -> AppTest:
    """The drawer of one of them."""
    desk.session_state["person_open"] = username
    return clean(desk.run())


def test_remote_services(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token of the desk opens what the desk answers itself: for a remote service none is offered."""
    monkeypatch.setenv("TRANCHE_CURATE_URL", "https://deals.invalid")
    monkeypatch.setenv("TRANCHE_DEALS_TOKEN", "secret")
    desk = visit("manager")
    assert desk.selectbox(key="token_service").options == ["Reporting"]
    said = [caption.value for caption in desk.caption]
    assert any(
        "Deals is a remote service" in caption and "create its tokens there" in caption for caption in said
    )
    assert not any("secret" in caption for caption in said)


def test_granting_deals(visit: Visit, access: Access) -> None:
    """Deals are granted apart from projects: a new person has none, until one says so."""
    desk = people_of(visit)
    desk.button(key="people_add").click().run()
    assert desk.button_group(key="person_deals_new_level_propose").value == "none"
    desk.text_input(key="person_username").set_value("nora")
    desk.text_input(key="person_password").set_value("long enough")
    clean(desk.button(key="person_add_sure").click().run())
    nora = access.people.get("nora")
    assert nora is not None
    assert not nora.deals.reads
    desk = open_person(desk, "manager")
    assert desk.button_group(key="person_deals_manager_level_write").value == "write"
    desk.button_group(key="person_deals_manager_level_write").set_value("none").run()
    clean(desk.button(key="person_save").click().run())
    changed = access.people.get("manager")
    assert changed is not None
    assert (str(changed.deals), changed.grants) == ("none", (Grant("demo"),))


def test_a_token_for_deals_says_what_it_may(visit: Visit, access: Access) -> None:
    """A token may do all that one may do with deals, or read alone; who may do nothing makes none."""
    desk = visit("manager")
    desk.text_input(key="token_name").set_value("reader")
    desk.selectbox(key="token_service").set_value("deals").run()
    desk.button_group(key="token_deals_level_write").set_value("read").run()
    clean(desk.button(key="token_make").click().run())
    caller = access.caller(desk.code[0].value, "deals")
    assert (str(caller.deals), caller.person.username) == ("read", "manager")
    access.people.change("manager", deals=DealsGrant("none"))
    assert visit("manager").selectbox(key="token_service").options == ["Reporting"]


def test_the_audit_log(visit: Visit) -> None:
    """An administrator sees who signed in and who changed what, the latest first."""
    desk = open_person(people_of(visit), "viewer")
    desk.multiselect(key="person_grants_viewer").set_value(["demo"])
    clean(desk.button(key="person_save").click().run())
    clean(desk.button_group(key="access_shown").set_value("Log").run())
    shown = desk.dataframe[0].value
    assert shown[["Event", "Person", "By"]].head(2).to_numpy().tolist() == [
        ["Person changed", "viewer", "admin"],
        ["Signed in", "admin", "admin"],
    ]
    assert shown["Details"][0].startswith("viewer, sees demo/delivery, deals read → viewer, sees demo,")


def test_a_reset_password_revokes_tokens(visit: Visit, access: Access) -> None:
    """A password that an administrator resets takes the tokens with it; with one's own one chooses."""
    text = access.issue("viewer", "reporting", "v", None)
    desk = open_person(people_of(visit), "viewer")
    desk.text_input(key="person_new_password").set_value("quite another").run()
    clean(desk.button(key="person_set_password").click().run())
    with pytest.raises(AccessError):
        access.caller(text, "reporting")
    own = access.issue("admin", "reporting", "mine", None)
    desk = open_person(people_of(visit), "admin")
    desk.checkbox(key="person_revoke_tokens").uncheck()
    desk.text_input(key="person_new_password").set_value("quite another").run()
    desk.button(key="person_set_password").click().run()
    assert access.caller(own, "reporting").person.username == "admin"
