"""The company sign-in: which claims let whom in, with which rights, and that nobody becomes somebody else."""

import time
from pathlib import Path
from typing import Any

import pytest
from peopled import people_in

from lib.people import ALL_DEALS, DealsGrant, Grant, People, Person
from lib.people.company import ClaimRule, Company, found_in, rights, verified_claims
from lib.people.sessions import Sessions
from lib.people.tokens.access import Access
from lib.people.tokens.store import TokenStore
from lib.wire.errors import AccessError, BadRequest, NotAdmitted

CLIENT = "tranche"
ISSUER = "https://login.example/corp"
NOW = time.time()
RULES = (
    ClaimRule.parse("groups", "admins", "admin", (), "none"),
    ClaimRule.parse("groups", "traders", "manager", ("acme", "other/auctions"), "write:3,7"),
    ClaimRule.parse("groups", "readers", "viewer", ("acme", "news"), "read"),
)


class Clock:
    """Seconds since 1970 that pass when told to."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the desk."""
    return Clock()


@pytest.fixture
def people(tmp_path: Path, database_url: str) -> People:
    """Ada, who has a password."""
    people = people_in(tmp_path, database_url)
    people.add(Person("ada", "Ada Example", "ada@corp.example", "admin"), "right")
    return people


@pytest.fixture
def company(people: People, clock: Clock) -> Company:
    """The company sign-in over them."""
    return Company(people, ISSUER, CLIENT, RULES, clock=clock)


@pytest.fixture
def access(people: People) -> Access:
    """Tokens and people, with the audit log."""
    return Access(TokenStore(people.engine), people)


def claims(**others: Any) -> dict[str, Any]:
    """An ID token of Bea, a trader, of a nonce of its own."""
    usual = {
        "iss": ISSUER,
        "aud": CLIENT,
        "sub": "b-2",
        "exp": NOW + 300,
        "nonce": f"n{time.perf_counter_ns()}",
    }
    return usual | {"email": "bea@corp.example", "name": "Bea Buyer", "groups": ["staff", "traders"]} | others


def test_a_rule_matches_a_value_or_a_list_with_it() -> None:
    """A claim matches as text, as a list that has the value, and along a path through nested claims."""
    rule = ClaimRule.parse("realm_access.roles", "7", "viewer", (), "none")
    assert rule.matches({"realm_access": {"roles": ["x", "7"]}})
    assert rule.matches({"realm_access.roles": 7})
    assert not rule.matches({"realm_access": {"roles": ["77"]}})
    assert not rule.matches({"realm_access": ["roles"], "roles": "7"})
    assert not rule.matches({})
    assert ClaimRule.parse("staff", "true", "viewer", (), "none").matches({"staff": True})
    assert not ClaimRule.parse("staff", "None", "viewer", (), "none").matches({"staff": None})
    assert found_in({"https://corp.example/roles": ["a"]}, "https://corp.example/roles") == ["a"]


def test_the_first_rule_gives_the_role_and_all_give_grants() -> None:
    """Role and deals are those of the first rule that matches; the grants are those of all, each once."""
    granted = rights(RULES, {"groups": ["readers", "traders"]})
    assert granted is not None
    assert (granted.role, granted.deals) == ("manager", DealsGrant.parse("write:3,7"))
    assert [str(grant) for grant in granted.grants] == ["acme", "other/auctions", "news"]
    assert rights(RULES, {"groups": "staff"}) is None


@pytest.mark.parametrize(("role", "grants", "deals"), [("viewer", (), "write"), ("viewer", ("a/",), "none")])
def test_a_rule_that_can_not_be(role: Any, grants: tuple[str, ...], deals: str) -> None:
    """A rule beyond what its role may do, or with a grant that is none, is refused."""
    with pytest.raises(BadRequest):
        ClaimRule.parse("groups", "x", role, grants, deals)


def test_a_new_account_is_a_new_person(company: Company, people: People) -> None:
    """The first sign-in adds a person of the name that the claim gives, with the rights of the rules."""
    person = company.arrive(claims())
    assert person == people.get("bea@corp.example")
    assert (person.name, person.role, person.company) == ("Bea Buyer", "manager", ISSUER)
    assert person.grants == (Grant("acme"), Grant("other", "auctions"))
    assert person.deals == DealsGrant.parse("write:3,7")
    assert people.check("bea@corp.example", "") is None, "there is no password"


def test_rights_are_read_at_each_sign_in(company: Company, people: People) -> None:
    """Another sign-in changes role, grants, deals, name and e-mail; user name and its tokens' date stay."""
    before = company.arrive(claims())
    after = company.arrive(claims(groups=["admins"], name="Bea Boss", email="bea.boss@corp.example"))
    assert (after.username, after.added) == (before.username, before.added)
    assert (after.role, after.name, after.email) == ("admin", "Bea Boss", "bea.boss@corp.example")
    assert (after.grants, after.deals) == ((), ALL_DEALS)
    assert len(people.everyone()) == 2


def test_without_a_rule_nobody_is_let_in(company: Company, people: People) -> None:
    """An account that no rule matches gets a sentence, and no person is made for it."""
    with pytest.raises(NotAdmitted, match="no rule of this desk"):
        company.arrive(claims(groups=["staff"]))
    assert [person.username for person in people.everyone()] == ["ada"]


def test_without_a_rule_any_more(company: Company, access: Access, people: People) -> None:
    """Who matches no rule any more is out with sessions and tokens; with a rule again, they are let in."""
    bea, sessions = company.arrive(claims()), Sessions(people)
    token = access.issue(bea.username, "reporting", "nightly", None)
    sessions.begin(bea.username, NOW + 600)
    with pytest.raises(NotAdmitted):
        company.arrive(claims(groups=[]))
    assert sessions.person(bea.username, NOW + 600) is None
    with pytest.raises(AccessError):
        access.caller(token, "reporting")
    assert company.arrive(claims()) == bea
    assert sessions.person(bea.username, NOW + 600) is None, "an ended session stays ended"
    assert access.caller(token, "reporting").person == bea


@pytest.mark.parametrize("name", ["ada", "Ada"])
def test_no_claim_takes_over_a_person_with_a_password(people: People, clock: Clock, name: str) -> None:
    """An account whose name is that of a person with a password is refused, and the person unchanged."""
    before, company = (
        people.record("ada"),
        Company(people, ISSUER, CLIENT, RULES, "preferred_username", clock=clock),
    )
    with pytest.raises(NotAdmitted, match="another person called 'ada'"):
        company.arrive(claims(preferred_username=name, email="ada@corp.example"))
    assert people.record("ada") == before


def test_no_claim_takes_over_another_account(company: Company, people: People) -> None:
    """A second account with the e-mail of the first is refused; issuer and subject are the identity."""
    bea = company.arrive(claims())
    with pytest.raises(NotAdmitted, match=r"another person called 'bea@corp\.example'"):
        company.arrive(claims(sub="eve", groups=["admins"]))
    assert people.get(bea.username) == bea


@pytest.mark.parametrize(
    "others",
    [{"iss": "https://evil.example"}, {"sub": ""}, {"nonce": None}],
    ids=["of another issuer", "of nobody", "without a nonce"],
)
def test_tokens_that_are_not_ours(company: Company, people: People, others: dict[str, Any]) -> None:
    """A token of another issuer, of nobody or without a nonce lets nobody in."""
    with pytest.raises(NotAdmitted, match="another provider"):
        company.arrive(claims(**others))
    assert len(people.everyone()) == 1


@pytest.mark.parametrize(
    "others",
    [
        {"aud": "another-client", "azp": CLIENT},
        {"aud": ["another-client", "a-third"], "azp": CLIENT},
        {"aud": [CLIENT, "another-client"], "azp": CLIENT},
        {"aud": []},
        {"aud": None},
        {"azp": "another-client"},
    ],
    ids=str,
)
def test_tokens_for_other_clients(company: Company, people: People, others: dict[str, Any]) -> None:
    """A token that is not for this desk alone lets nobody in, whatever its `azp` says."""
    with pytest.raises(NotAdmitted, match="for another application"):
        company.arrive(claims(**others))
    assert len(people.everyone()) == 1


def test_a_list_with_this_desk_alone(company: Company) -> None:
    """A list with only us is as good as our name."""
    assert company.arrive(claims(aud=[CLIENT], azp=CLIENT))


def test_an_expired_token(company: Company, clock: Clock) -> None:
    """A token that has expired begins no session, but for two minutes by which clocks may differ."""
    clock.now = NOW + 300 + 119
    assert company.arrive(claims()) is not None
    clock.now += 2
    for told in (claims(), claims(exp=None), claims(exp="soon"), claims(exp=True)):
        with pytest.raises(NotAdmitted, match="has expired"):
            company.arrive(told)


def test_a_token_begins_one_session(company: Company, clock: Clock, access: Access) -> None:
    """A token that was used begins nothing again: not at once, after it expired, or after a removal."""
    used = claims()
    assert company.arrive(used)
    assert company.arrive(used) is None
    clock.now += 3600
    assert company.arrive(used) is None
    access.remove("bea@corp.example", "ada")
    assert company.arrive(used) is None


def test_an_unverified_address_is_not_a_claim() -> None:
    """An e-mail address that the provider has not verified names nobody and matches no rule."""
    assert "email" not in verified_claims(claims(email_verified=False))
    for told in ("false", "False", "true", "True", 1, None, [True]):
        assert "email" not in verified_claims(claims(email_verified=told)), told
    assert verified_claims(claims(email_verified=True))["email"] == "bea@corp.example"


@pytest.mark.parametrize(
    "given", [{"email_verified": False}, {"email": ""}, {"email": None}, {"email": "-x"}]
)
def test_an_account_without_a_name(company: Company, people: People, given: dict[str, Any]) -> None:
    """Without the claim of names, or with one that can't be a user name, nobody is added."""
    with pytest.raises(NotAdmitted, match="has no email"):
        company.arrive(claims(**given))
    assert len(people.everyone()) == 1


def test_names_that_can_not_be_shown_or_stored(people: People, clock: Clock) -> None:
    """A name with a line break is left out; a user name in other letters gets hyphens."""
    company = Company(people, ISSUER, CLIENT, RULES, "preferred_username", clock=clock)
    person = company.arrive(claims(preferred_username="CORP\\Béa B", name="Bea\nBuyer", email="no address"))
    assert (person.username, person.name, person.email) == ("corp-b-a-b", "corp-b-a-b", None)


def test_blocking(company: Company, access: Access, people: People) -> None:
    """Blocking ends sessions and tokens at once, and sign-ins; unblocking lets the next sign-in begin."""
    bea, sessions = company.arrive(claims()), Sessions(people)
    token = access.issue(bea.username, "reporting", "nightly", None)
    sessions.begin(bea.username, NOW + 600)
    access.block(bea.username, "ada", is_blocked=True)
    assert sessions.person(bea.username, NOW + 600) is None
    with pytest.raises(AccessError):
        access.caller(token, "reporting")
    with pytest.raises(NotAdmitted, match="blocked here"):
        company.arrive(claims(groups=["admins"]))
    with pytest.raises(BadRequest, match="is blocked"):
        access.issue(bea.username, "reporting", "another", None)
    assert people.locked_names() == [], "that is about passwords of the demo"
    access.block(bea.username, "ada", is_blocked=False)
    assert sessions.person(bea.username, NOW + 600) is None, "rules may have changed meanwhile"
    assert company.arrive(claims()) == bea
    assert sessions.person(bea.username, NOW + 600) is None, "an ended session stays ended"


def test_what_can_not_be_changed_here(company: Company, access: Access) -> None:
    """Password, role and grants of a company account can't be set here; nor can others be blocked."""
    bea = company.arrive(claims()).username
    for change in (
        lambda: access.set_password(bea, "correct horse", "ada"),
        lambda: access.change(bea, "ada", role="admin"),
        lambda: access.regrant(bea, [Grant("*")], "ada"),
    ):
        with pytest.raises(BadRequest, match="company account"):
            change()
    with pytest.raises(BadRequest, match="has a password"):
        access.block("ada", "ada", is_blocked=True)


def test_what_is_noted(company: Company, access: Access) -> None:
    """The audit log has who came, whose rights changed, and who was refused, each with the reason."""
    access.sign_in_with(company, claims(), "192.0.2.7")
    access.sign_in_with(company, claims(groups=["admins"]))
    with pytest.raises(NotAdmitted):
        access.sign_in_with(company, claims(sub="c-3", email="cem@corp.example", groups=[]))
    noted = [(entry.event, entry.about, entry.detail) for entry in access.audit.entries()[1]][::-1]
    manager, admin = (
        "manager, sees acme, other/auctions, deals write:3,7, mail to bea@corp.example",
        "admin, sees everything, deals write, mail to bea@corp.example",
    )
    bea = "bea@corp.example"
    assert noted[:4] == [
        ("person added", bea, manager),
        ("signed in", bea, "company account"),
        ("person changed", bea, f"{manager} → {admin}"),
        ("signed in", bea, "company account"),
    ]
    assert noted[4][:2] == ("sign-in refused", "unknown name")
    assert noted[4][2].startswith(
        "company account cem@corp.example: You signed in at your company, but no rule"
    )
