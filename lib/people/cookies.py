"""The cookies of the desk: which browser a request comes from, and who is signed in with it.

The server signs, sets and reads both; scripts can't read them. The session cookie is the sign-in. The browser
cookie is a random number, set before a sign-in and kept after it: it binds what is made for one browser to
that browser, and names the people who have signed in with it (as keyed digests).
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from starlette.requests import cookie_parser

from lib.people.person import Person
from lib.people.person import key as normalized
from lib.people.secret import public_name
from lib.people.sessions import Sessions

ALGORITHM = "HS256"
MOST_NAMES = 8
CODE_SECONDS = 60
BROWSER_SECONDS = 365 * 24 * 3600
Values = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in: its person, and its end in seconds since 1970."""

    username: str
    ends: float


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser, and digests of the names of people who have signed in with it."""

    id: str
    name_digests: tuple[str, ...] = ()


class Cookies:
    """Reads and makes the values of both cookies; `key` is the same at all desks over a database."""

    def __init__(self, key: str, sessions: Sessions, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since 1970."""
        self._key, self._sessions, self._clock = key, sessions, clock
        self.session_name = public_name(key)
        self.browser_name = f"{self.session_name}-browser"
        self._fresh: dict[str, tuple[SignIn, float]] = {}
        self._lock = threading.Lock()

    def person(self, header: str) -> Person | None:
        """Who is signed in with the browser that sent this `Cookie` header; None if nobody is.

        By the session cookie; and by the browser cookie, from a sign-in at a page of this process until the
        browser has its session cookie, a minute at most. One query of the database: StoreUnavailable without.
        """
        values = cookie_parser(header)
        return self._valid(self.sign_in(values)) or self._valid(self.fresh_sign_in(values))

    def has_signed(self, header: str) -> bool:
        """Whether the session cookie of this `Cookie` header is ours, of a sign-in that is valid or over."""
        return self.sign_in(cookie_parser(header)) is not None

    def sign_in(self, values: Values) -> SignIn | None:
        """The sign-in that the session cookie names, valid or over; None for a cookie that is not ours."""
        claims = self._read("session", values.get(self.session_name, ""))
        return SignIn(claims["username"], claims["ends"]) if claims else None

    def browser(self, values: Values) -> Browser | None:
        """The browser that the browser cookie names; None for a cookie that is not ours."""
        claims = self._read("browser", values.get(self.browser_name, ""))
        return Browser(claims["id"], tuple(claims["known"])) if claims else None

    def device(self, username: str, values: Values) -> str | None:
        """The browser's number, if this person has signed in with it before; None otherwise."""
        browser = self.browser(values)
        return browser.id if browser is not None and self._digest(username) in browser.name_digests else None

    def remember(self, values: Values, sign_in: SignIn) -> None:
        """Note that this sign-in has begun at a page of this browser, which may not have its cookie yet."""
        browser, now = self.browser(values), self._clock()
        if browser is not None:
            with self._lock:
                self._fresh = {number: fresh for number, fresh in self._fresh.items() if fresh[1] > now}
                self._fresh[browser.id] = (sign_in, now + CODE_SECONDS)

    def code(self, values: Values, sign_in: SignIn) -> str:
        """A code for which this browser gets the session cookie of the sign-in; empty without its cookie.

        It is worth nothing in another browser, after `CODE_SECONDS`, or a second time.
        """
        browser = self.browser(values)
        if browser is None:
            return ""
        claims = {"username": sign_in.username, "ends": sign_in.ends, "browser": browser.id}
        once = {"until": self._clock() + CODE_SECONDS, "nonce": secrets.token_urlsafe(16)}
        return self._sign("code", claims | once)

    def exchange(self, header: str, code: str) -> dict[str, tuple[str, float]] | None:
        """The cookies to set for a code: name → value and seconds; None for one that is worth nothing."""
        now, browser = self._clock(), self.browser(cookie_parser(header))
        claims = self._read("code", code)
        if claims is None or browser is None or claims["until"] <= now:
            return None
        if not hmac.compare_digest(claims["browser"], browser.id):
            return None
        digest = hashlib.sha256(claims["nonce"].encode()).hexdigest()
        if not self._sessions.use_once(digest, claims["until"]):
            return None
        self._end_fresh(browser)  # from now on, who planted the browser cookie has nothing of it
        sign_in = SignIn(claims["username"], claims["ends"])
        return {
            self.session_name: (self.session_value(sign_in), sign_in.ends - now),
            self.browser_name: (self.browser_value(browser, sign_in.username), BROWSER_SECONDS),
        }

    def new_browser(self, header: str) -> dict[str, tuple[str, float]]:
        """The cookie to set for a browser without a valid one: name → value and seconds; empty with one."""
        if self.browser(cookie_parser(header)) is not None:
            return {}
        return {self.browser_name: (self.browser_value(), BROWSER_SECONDS)}

    def browser_number(self, header: str) -> str:
        """The number of the browser that sent this `Cookie` header; empty without its cookie."""
        browser = self.browser(cookie_parser(header))
        return "" if browser is None else browser.id

    def forget(self, header: str) -> dict[str, tuple[str, float]]:
        """The cookie to delete after a sign-out: name → value and seconds; empty where there is none."""
        values = cookie_parser(header)
        browser = self.browser(values)
        if browser is not None:
            self._end_fresh(browser)
        return {self.session_name: ("", 0)} if self.session_name in values else {}

    def owner(self, header: str) -> tuple[str, str] | None:
        """The browser's number and the name of the person signed in with it; None without either."""
        browser = self.browser(cookie_parser(header))
        person = self.person(header) if browser is not None else None
        return (browser.id, person.username) if browser is not None and person is not None else None

    def session_value(self, sign_in: SignIn) -> str:
        return self._sign("session", {"username": sign_in.username, "ends": sign_in.ends})

    def browser_value(self, browser: Browser | None = None, username: str = "") -> str:
        """The value of a browser cookie: of a new browser, or of one in which this person signed in too."""
        current = browser or Browser(secrets.token_urlsafe(16))
        digests = current.name_digests
        if username:
            digest = self._digest(username)
            digests = (digest, *(other for other in digests if other != digest))[:MOST_NAMES]
        return self._sign("browser", {"id": current.id, "known": digests})

    def fresh_sign_in(self, values: Values) -> SignIn | None:
        """The latest sign-in at a page of this process with this browser, whose cookie may be on its way."""
        browser = self.browser(values)
        sign_in, until = self._fresh.get(browser.id if browser is not None else "", (None, 0.0))
        return sign_in if until > self._clock() else None

    def _end_fresh(self, browser: Browser) -> None:
        with self._lock:
            self._fresh.pop(browser.id, None)

    def _valid(self, sign_in: SignIn | None) -> Person | None:
        return None if sign_in is None else self._sessions.person(sign_in.username, sign_in.ends)

    def _sign(self, purpose: str, claims: Mapping[str, Any]) -> str:
        return jwt.encode(dict(claims), self._purpose_key(purpose), algorithm=ALGORITHM)

    def _read(self, purpose: str, value: str) -> dict[str, Any] | None:
        try:
            claims: dict[str, Any] = jwt.decode(value, self._purpose_key(purpose), algorithms=[ALGORITHM])
        except (jwt.PyJWTError, RecursionError):  # JSON nested deeply, in a header that nobody signed
            return None
        return claims

    def _purpose_key(self, purpose: str) -> str:
        """A key per kind of value, so that none passes for another."""
        return hmac.new(self._key.encode(), f"cookie {purpose}".encode(), hashlib.sha256).hexdigest()

    def _digest(self, username: str) -> str:
        text = f"known {normalized(username)}".encode()
        return hmac.new(self._key.encode(), text, hashlib.sha256).hexdigest()[:16]
