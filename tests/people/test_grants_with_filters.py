"""Grants with filters: as text, in the database of people and tokens, changed, and carried along."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine, update

from lib.people import Grant, People, Person
from lib.people.company import ClaimRule, rights
from lib.people.person import MOST_FILTERS, parse_filters
from lib.people.tables import people
from lib.people.tokens.access import Access
from lib.people.tokens.store import TokenStore
from lib.wire.errors import BadRequest, Misconfigured
from lib.wire.filters import Filter

SEATS = Filter(name="seat", value=("3", "7"), match="equals")
NO_US = Filter(name="geo/country", value=("US", 'é, "quoted" /[{'), match="not contains", case_insensitive=1)
SALES = Grant("demo", "sales")
LIMITED = Grant("demo", "sales", (SEATS, NO_US))


@pytest.fixture
def access(engine: Engine) -> Access:
    """Ada, who may see the project demo, but of one slicer some rows."""
    access = Access(TokenStore(engine), People(engine))
    access.people.add(Person("ada", "Ada", None, "viewer", (Grant("demo"), LIMITED)), "right")
    return access


def filters_of(access: Access) -> tuple[Filter, ...]:
    """Those of Ada for the slicer."""
    return access.people.require("ada").row_filters("demo", "sales")


@pytest.mark.parametrize("grant", [LIMITED, Grant("demo", "a/b", (NO_US,)), Grant("de mo", "[x]", (SEATS,))])
def test_a_grant_is_one_text(grant: Grant) -> None:
    """The text of a grant has its filters, whatever is in names and values, and is read as the same grant."""
    assert Grant.parse(str(grant)) == grant
    assert Grant.parse(grant.place) == Grant(grant.project, grant.slicer)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('demo/sales/[{"name": "seat"}]', "no filters"),
        ('demo/sales/[{"name": "seat", "value": "3", "match": "is"}]', "no filters"),
        ('demo/sales/[{"name": "seat", "value": [], "match": "not equals"}]', "needs a value"),
        ('demo/sales/[{"name": "seat", "value": "3", "match": "equals"}', "no filters"),
        ('demo/sales/[{"name": "seat", "value": "3", "match": "equals", "case": 1}]', "no filters"),
    ],
)
def test_a_text_that_is_no_filter(text: str, reason: str) -> None:
    """Whatever is not a whole filter object is refused, and never read as a grant of every row."""
    with pytest.raises(BadRequest, match=reason):
        Grant.parse(text)


def test_a_project_has_no_filters() -> None:
    """Filters belong to one slicer, and are not too many."""
    for project in ("demo", "*"):
        with pytest.raises(BadRequest, match="belong to one slicer"):
            Grant(project, None, (SEATS,))
    with pytest.raises(BadRequest, match="at most"):
        Grant("demo", "sales", (SEATS,) * (MOST_FILTERS + 1))


def test_filters_at_the_keyboard() -> None:
    """`seat=3,7` is the filter by equal values; an object and a list of objects are as the API has them."""
    assert parse_filters("seat=3,7") == (SEATS,)
    whole = SEATS.model_dump_json()
    assert parse_filters(whole) == parse_filters(f"[{whole}]") == (SEATS,)


def test_a_limit_holds_beside_a_wider_grant(access: Access) -> None:
    """Who may see a whole project sees of the limited slicer the rows of its own grant; an admin sees all."""
    assert filters_of(access) == (SEATS, NO_US)
    assert access.people.require("ada").row_filters("demo", "other") == ()
    assert access.change("ada", "root", role="admin").row_filters("demo", "sales") == ()


def test_a_grant_takes_the_place_of_the_one_before(access: Access) -> None:
    """Granting the slicer again changes its filters or lifts them; a revocation needs no filters."""
    access.regrant("ada", [Grant("demo", "sales", (SEATS,))], "root")
    assert filters_of(access) == (SEATS,)
    access.regrant("ada", [SALES], "root")
    assert filters_of(access) == ()
    access.regrant("ada", [LIMITED], "root")
    assert access.regrant("ada", [SALES], "root", takes=True).grants == (Grant("demo"),)


def test_the_audit_log_names_filters(access: Access) -> None:
    """Who was limited to which rows, by whom, is in the log, of people and of tokens."""
    access.change("ada", "root", grants=[Grant("demo", "sales", (SEATS,))])
    access.issue("ada", "reporting", "nightly", None, (Grant("demo", "sales", (NO_US,)),))
    token, change = access.audit.entries(10, 0)[1][:2]
    assert "demo/sales (only seat equals 3, 7)" in change.detail
    assert "geo/country not contains US" in token.detail


def test_a_token_keeps_its_filters(access: Access) -> None:
    """A token has its own filters and those of its owner; a token lent within it has them too."""
    token = access.issue("ada", "reporting", "nightly", None, (Grant("demo", "sales", (SEATS,)),))
    access.change("ada", "root", grants=[Grant("demo", "sales", (NO_US,))])
    caller = access.caller(token, "reporting")
    assert caller.row_filters("demo", "sales") == (NO_US, SEATS)
    lent = access.store.lend("ada", "reporting", timedelta(hours=1), caller.token)
    assert access.caller(lent, "reporting").row_filters("demo", "sales") == (NO_US, SEATS)
    access.change("ada", "root", grants=[])
    assert not access.caller(token, "reporting").may_see("demo", "sales")


def test_an_unreadable_filter_opens_nothing(access: Access) -> None:
    """A person whose stored filters can't be read is not read as one without: they have no access."""
    token = access.issue("ada", "reporting", "nightly", None)
    record = (access.people.record("ada") or {}) | {"grants": ['demo/sales/[{"name": "seat"}]']}
    with access.store.engine.begin() as connection:
        connection.execute(update(people).values(record=record))
    with pytest.raises(Misconfigured, match="person 'ada' can't be read"):
        access.caller(token, "reporting")


def test_rules_of_a_company_sign_in_have_filters() -> None:
    """A rule's grant is the same text; where several rules limit one slicer, all of their filters hold."""
    grants = ((LIMITED,), (Grant("demo", "sales", (SEATS,)),))
    rules = [
        ClaimRule.parse("groups", group, "viewer", map(str, some), "none")
        for group, some in zip(("a", "b"), grants, strict=True)
    ]
    both = rights(rules, {"groups": ["a", "b"]})
    assert both is not None
    person = Person("eve", "Eve", None, both.role, both.grants)
    assert person.row_filters("demo", "sales") == (SEATS, NO_US)
