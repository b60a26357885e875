"""The first checks of any remote service: it answers, and there is a token for it."""

import httpx

from lib.check.step import Settled, Step, Steps, timed
from lib.remote import Line
from lib.settings import Settings
from lib.tokens.client import Temporary
from lib.wire.call import Call, call
from lib.wire.deadline import Deadline
from lib.wire.errors import TrancheError, Unreadable

SMALL = 1_048_576


def reached(service: Settled, line: Line, settings: Settings, identifier: str) -> Steps[bool]:
    """Whether it answers at all, and there is a token for this identifier; the steps that say so."""
    try:
        with timed() as took:
            code = _answer(line.http, settings.connect_seconds)
        yield Step(service.name, "Connection", "ok", f"{line.address} answers {took()} (HTTP {code}).")
    except TrancheError as error:
        yield service.failure("Connection", error)
        return False
    return (yield from _token(service, line, settings, identifier))


def _answer(http: httpx.Client, seconds: float) -> str:
    """The HTTP code of the response at the address itself."""
    try:
        return str(call(http, Call("GET", "/", deadline=Deadline(2 * seconds), max_bytes=SMALL)).status_code)
    except Unreadable:
        return "with more than a page"


def _token(service: Settled, line: Line, settings: Settings, identifier: str) -> Steps[bool]:
    if not isinstance(line.credential, Temporary):
        yield Step(
            service.name, "Token", "note", f"The settings give a permanent one for the service {identifier}."
        )
        return True
    try:
        with timed() as took:
            line.credential.token()
    except TrancheError as error:
        refusal = f"Check service_username and service_password, and the service identifier {identifier}"
        grant = Settled(service.name, "auth_url", refusal)
        yield grant.failure("Token", error)
        return False
    who = settings.service_username
    yield Step(service.name, "Token", "ok", f"{settings.auth_url} gives {who} temporary tokens {took()}.")
    return True
