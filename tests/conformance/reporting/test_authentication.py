"""Specification, "Authentication"; and what decisions settle of it: who learns what, in which order."""

import datetime as dt

import httpx
import pytest

from conformance.reporting.caller import VERBS, Caller, refused
from conformance.reporting.conftest import PROJECT, Token
from lib.people import Grant, Person
from lib.serving import connect

pytestmark = pytest.mark.service

SECOND = dt.timedelta(seconds=1)
ODD = ["", ".", "..", "../shop", "shop/hourly", "*", "a\0b", "x" * 300, "😀" * 80, " hourly", "HOURLY", "%2E"]


@pytest.mark.parametrize("verb", VERBS)
def test_the_token_is_in_the_body(hourly: Caller, verb: str) -> None:
    """Every request carries its token in the body; one in a header opens nothing."""
    headers = {"Authorization": f"Bearer {hourly.token}"}
    refused(hourly.post(verb, headers=headers, token="wrong"), "access_error")


@pytest.mark.parametrize("token", ["wrong", "trn_rep_wrong", "\0", "ü" * 1000, "' or 1=1 --"])
@pytest.mark.parametrize("verb", VERBS)
def test_wrong_token(hourly: Caller, verb: str, token: str) -> None:
    """A wrong token yields access_error."""
    hourly.reason(verb, "access_error", token=token)


@pytest.mark.parametrize("verb", VERBS)
def test_no_access_to_the_slicer(hourly: Caller, verb: str) -> None:
    """A token without access to the slicer yields access_error."""
    hourly.reason(verb, "access_error", slicer_name="secret")


@pytest.mark.parametrize("verb", VERBS)
def test_no_access_to_the_project(hourly: Caller, verb: str) -> None:
    """A token without access to the project yields access_error."""
    hourly.reason(verb, "access_error", project_name="elsewhere")


def refusals(caller: Caller, verb: str, issued: Token) -> list[httpx.Response]:
    """The answers for each way of having no access, to a request that is wrong in other ways too."""
    narrow = issued(Grant(PROJECT, "daily"))
    return [
        caller.post(verb, **fields, start_date="never", split_by=["nothing"], surprise=1)
        for fields in (
            {"token": "wrong"},
            {"token": narrow},
            {"token": issued(service="deals")},
            {"slicer_name": "secret"},
            {"slicer_name": "no such slicer"},
            {"project_name": "no such project"},
            {"token": narrow, "slicer_name": "no such slicer"},
        )
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_a_stranger_learns_no_names(hourly: Caller, issued: Token, verb: str) -> None:
    """Wrong token, slicer that is not granted, slicer that is not there: byte for byte the same answer."""
    answers = {
        (answer.status_code, answer.content, frozenset(answer.headers) - {"date"})
        for answer in refusals(hourly, verb, issued)
    }
    assert len(answers) == 1
    assert answers.pop()[0] == 403


@pytest.mark.parametrize("verb", VERBS)
def test_the_token_is_checked_first(hourly: Caller, verb: str) -> None:
    """Without access nothing else of the request is looked at, not even whether it names a slicer."""
    hourly.reason(verb, "access_error", token="wrong", slicer_name=5, project_name=None)


def test_the_slicer_is_checked_before_the_request(hourly: Caller) -> None:
    """With access, the first thing that is refused is the request itself."""
    assert hourly.reason("audience", surprise=1).startswith("Unknown request field")
    hourly.reason("audience", "access_error", slicer_name="secret", surprise=1)


def test_a_token_has_at_most_what_its_owner_has(
    hourly: Caller, installation: connect.Installation, issued: Token
) -> None:
    """A token granted more than its owner has now opens only what both have."""
    wide = installation.access.store.issue("ana", "reporting", "wide", None, (Grant("*"),))
    assert hourly.post("info", token=wide).status_code == 200
    hourly.reason("info", "access_error", token=wide, slicer_name="secret")


def test_a_token_for_a_single_slicer(hourly: Caller, issued: Token) -> None:
    """A token granted a single slicer opens that one alone."""
    token = issued(Grant(PROJECT, "daily"))
    assert hourly.post("info", token=token, slicer_name="daily").status_code == 200
    hourly.reason("info", "access_error", token=token)


def test_a_token_for_the_other_service(hourly: Caller, issued: Token) -> None:
    """A token for the deals API opens nothing here."""
    hourly.reason("info", "access_error", token=issued(service="deals"))


def test_a_token_that_has_ended(hourly: Caller, installation: connect.Installation) -> None:
    """An expired token, a revoked one and one of a person who was removed open nothing any more."""
    access = installation.access
    access.people.add(Person("bo", "Bo", None, "viewer", (Grant(PROJECT),)), "a password")
    token, other = (access.issue("bo", "reporting", name, None) for name in ("one", "two"))
    assert hourly.post("info", token=token).status_code == 200
    access.store.revoke(access.store.verify(token, "reporting").id)
    hourly.reason("info", "access_error", token=token)
    assert hourly.post("info", token=other).status_code == 200
    access.remove("bo")
    hourly.reason("info", "access_error", token=other)


@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("field", ["slicer_name", "project_name"])
def test_odd_names(hourly: Caller, installation: connect.Installation, field: str, name: str) -> None:
    """Whoever may see everything gets access_error for any name that no slicer has, however odd."""
    people = installation.people
    if people.get("cleo") is None:
        people.add(Person("cleo", "Cleo", None, "admin"), "a password")
    token = installation.access.issue("cleo", "reporting", "all", dt.timedelta(hours=1))
    hourly.reason("info", "access_error", token=token, **{field: name})


@pytest.mark.parametrize("verb", VERBS)
def test_no_answer_repeats_the_token(hourly: Caller, verb: str) -> None:
    """No answer has the token in it."""
    for fields in ({}, {"surprise": 1}, {"start_date": 5}, {"token": [hourly.token]}):
        response = hourly.post(verb, **fields)
        assert hourly.token.encode() not in response.content
        assert hourly.token not in str(response.headers)
