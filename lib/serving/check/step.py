"""A step of `tranche check`, and the first ones: a remote service answers, and has a token."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

from lib.people.tokens.client import TemporaryToken
from lib.serving.remote import Line
from lib.settings import Settings
from lib.wire import errors
from lib.wire.call import Call, call
from lib.wire.deadline import Deadline

State = Literal["ok", "note", "refused", "failed"]
REFUSALS = (errors.AccessError, errors.Unauthorized, errors.Forbidden)
CERTIFICATE, NO_HOST = "certificate", ("name or service", "nodename", "name resolution", "getaddrinfo")
Result = TypeVar("Result")
SMALL = 1_048_576


@dataclass(frozen=True)
class Step:
    """A check of a service: its subject, the result as a sentence, and how to fix it, if needed."""

    service: str
    what: str
    state: State
    result: str
    remedy: str = ""

    @property
    def is_good(self) -> bool:
        """Whether nothing needs fixing."""
        return self.state in ("ok", "note")


Steps = Generator[Step, None, Result]


@dataclass(frozen=True)
class ServiceSetting:
    """The setting with a service's address, and what to do about a refused token."""

    name: str
    address: str
    refusal: str

    def failure(self, what: str, error: errors.TrancheError) -> Step:
        """The failed step for this error, with the setting to check."""
        state: State = "refused" if isinstance(error, REFUSALS) else "failed"
        return Step(self.name, what, state, error.sentence, self._remedy(error))

    def _remedy(self, error: errors.TrancheError) -> str:
        if isinstance(error, errors.Misconfigured):
            return "Fix this setting."
        if isinstance(error, REFUSALS):
            return f"{self.refusal}; ask whoever runs the service what this token may see."
        if isinstance(error, errors.DeadlineExceeded):
            return "Ask whoever runs the service whether it is slow, or raise answer_seconds."
        if isinstance(error, errors.Unreadable):
            return f"Something else may answer there: {self.address} must be given without the API's path."
        if not isinstance(error, errors.Unreachable):
            return "Ask whoever runs the service: its log has the details."
        reason = error.reason.lower()
        if CERTIFICATE in reason:
            return "If your own certificate authority signed it, set ca_file to that authority's certificate."
        if any(phrase in reason for phrase in NO_HOST):
            return f"Check the host in {self.address}."
        return f"Check host and port in {self.address}, and whether a firewall or a proxy is between."


@contextmanager
def timer() -> Iterator[Callable[[], str]]:
    """The duration of the block, as the end of a sentence."""
    began = time.perf_counter()
    yield lambda: f"in {time.perf_counter() - began:.2f} s"


def check_reachable(service: ServiceSetting, line: Line, settings: Settings, identifier: str) -> Steps[bool]:
    """Whether it answers at all, and there is a token for this identifier; the steps that say so."""
    deadline = Deadline(2 * settings.remote.connect_seconds)
    try:
        with timer() as took:
            try:
                code = str(call(line.http, Call("GET", "/", deadline=deadline, max_bytes=SMALL)).status_code)
            except errors.Unreadable:
                code = "with more than a page"
        yield Step(service.name, "Connection", "ok", f"{line.address} answers {took()} (HTTP {code}).")
    except errors.TrancheError as error:
        yield service.failure("Connection", error)
        return False
    if not isinstance(line.credential, TemporaryToken):
        result = f"The settings give a permanent one for the service {identifier}."
        yield Step(service.name, "Token", "note", result)
        return True
    try:
        with timer() as took:
            line.credential.token()
    except errors.TrancheError as error:
        refusal = f"Check service_username and service_password, and the service identifier {identifier}"
        grant = ServiceSetting(service.name, "auth_url", refusal)
        yield grant.failure("Token", error)
        return False
    result = f"{settings.remote.auth_url} gives {settings.remote.service_username} temporary tokens {took()}."
    yield Step(service.name, "Token", "ok", result)
    return True
