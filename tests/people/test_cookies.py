"""The cookies of the desk: what a browser brings tells who it is, and who is signed in with it."""

from pathlib import Path

import jwt
import pytest
from peopled import people_in

from lib.people import People, Person
from lib.people.cookies import Browser, Cookies, SignIn
from lib.people.sessions import Sessions

NOW, ENDS = 1_000_000.0, 1_000_600.25
KEY = "k" * 43
ADA = SignIn("ada", ENDS)


@pytest.fixture
def people(tmp_path: Path) -> People:
    """Ada alone, with a cheap hash."""
    people = people_in(tmp_path)
    people.add(Person("ada", "Ada Example", None, "viewer"), "right")
    return people


@pytest.fixture
def sessions(people: People) -> Sessions:
    """Ada is signed in."""
    sessions = Sessions(people, lambda: NOW)
    sessions.begin("ada", ENDS)
    return sessions


@pytest.fixture
def cookies(sessions: Sessions) -> Cookies:
    """The cookies of that installation."""
    return Cookies(KEY, sessions, lambda: NOW)


def test_the_session_cookie_says_who_is_signed_in(cookies: Cookies, sessions: Sessions) -> None:
    """A `Cookie` header with the session cookie names the person, until the sign-in ends."""
    header = f"other=1; {cookies.session_name}={cookies.session_value(ADA)}"
    person = cookies.person(header)
    assert person is not None and person.username == "ada"
    sessions.end("ada", ENDS)
    assert cookies.person(header) is None


def test_a_browser_is_signed_in_before_it_has_its_session_cookie(sessions: Sessions) -> None:
    """A sign-in at a page counts for that page's browser at once, for no other, and for a minute at most."""
    now = [NOW]
    cookies = Cookies(KEY, sessions, lambda: now[0])
    mine, other = (f"{cookies.browser_name}={cookies.browser_value()}" for _ in range(2))
    cookies.remember({cookies.browser_name: mine.partition("=")[2]}, ADA)
    person = cookies.person(mine)
    assert person is not None and person.username == "ada"
    assert cookies.person(other) is None
    now[0] += 60
    assert cookies.person(mine) is None


def test_the_browser_cookie_signs_nobody_in_once_the_session_cookie_is_there(cookies: Cookies) -> None:
    """Whoever planted a browser cookie has nothing of the sign-in that follows once it has its own cookie."""
    values = {cookies.browser_name: cookies.browser_value()}
    header = f"{cookies.browser_name}={values[cookies.browser_name]}"
    cookies.remember(values, ADA)
    assert cookies.exchange(header, cookies.code(values, ADA))
    assert cookies.person(header) is None


@pytest.mark.parametrize("header", ["", "x", "tranche-00000000=x", ";;=;"])
def test_without_cookies_nobody_is_signed_in(cookies: Cookies, header: str) -> None:
    """A header without our cookies, or with what is none of ours, names nobody."""
    assert cookies.person(header) is None


def test_only_our_signature_counts(cookies: Cookies, sessions: Sessions) -> None:
    """Another key, no signature, and the value of the other cookie are refused."""
    name, claims = cookies.session_name, {"username": "ada", "ends": ENDS}
    foreign = Cookies("x" * 43, sessions).session_value(ADA)
    unsigned = jwt.encode(claims, "", algorithm="none")
    earlier = jwt.encode(claims, KEY, algorithm="HS256")
    for value in (foreign, unsigned, earlier, cookies.browser_value(), ""):
        assert cookies.sign_in({name: value}) is None
    assert cookies.browser({cookies.browser_name: cookies.session_value(ADA)}) is None


def test_a_code_is_of_use_in_its_browser_once_and_for_a_minute(people: People, sessions: Sessions) -> None:
    """A code gives its own browser both cookies; another browser, a second time and a late one nothing."""
    now = [NOW]
    cookies = Cookies(KEY, sessions, lambda: now[0])
    values, others = ({cookies.browser_name: cookies.browser_value()} for _ in range(2))
    mine, theirs = (
        f"{cookies.browser_name}={cookie_values[cookies.browser_name]}" for cookie_values in (values, others)
    )
    code = cookies.code(values, ADA)
    for header, text in ((theirs, code), ("", code), (mine, ""), (mine, cookies.session_value(ADA))):
        assert cookies.exchange(header, text) is None
    exchanged = cookies.exchange(mine, code)
    assert exchanged is not None
    assert cookies.sign_in({name: value for name, (value, _) in exchanged.items()}) == ADA
    assert exchanged[cookies.session_name][1] == ENDS - NOW
    assert cookies.device("ada", {name: value for name, (value, _) in exchanged.items()})
    another_desk = Cookies(KEY, Sessions(people, lambda: NOW), lambda: NOW)
    assert another_desk.exchange(mine, code) is None, "it was used"
    late = cookies.code(values, ADA)
    now[0] += 60
    assert cookies.exchange(mine, late) is None


def test_a_browser_without_cookies_gets_no_code(cookies: Cookies) -> None:
    """Without a browser cookie there is nothing to bind a code to."""
    assert cookies.code({}, ADA) == ""


def test_a_browser_knows_who_signed_in_with_it(cookies: Cookies) -> None:
    """The cookie names the last eight people by digests, and keeps the browser's number."""
    values = {cookies.browser_name: cookies.browser_value()}
    first = cookies.browser(values)
    assert isinstance(first, Browser) and not cookies.device("ada", values)
    values = {cookies.browser_name: cookies.browser_value(first, "Ada")}
    assert cookies.device("ada", values) and not cookies.device("eve", values)
    assert "ada" not in str(jwt.decode(values[cookies.browser_name], options={"verify_signature": False}))
    for number in range(8):
        value = cookies.browser_value(cookies.browser(values), f"p{number}")
        values = {cookies.browser_name: value}
    browser = cookies.browser(values)
    assert browser is not None and browser.id == first.id and len(browser.name_digests) == 8
    assert not cookies.device("ada", values)
