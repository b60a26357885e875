"""Both clients before a service that fails: the right error, in time, nothing twice, and then an answer."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from needs import NIGHTLY

from faults import behaviors as do
from faults.conftest import CONNECT_SECONDS, PATIENCE, UNANSWERED, Service, SyncState
from faults.proxy import Behavior, Proxy
from lib.deals.client import Deals
from lib.deals.compat import Dialect
from lib.deals.models import SupplyPackage
from lib.people.tokens.client import TemporaryToken
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.serving.remote import deals_line, reporting_line
from lib.wire import call
from lib.wire.errors import (
    CircuitOpen,
    MalformedResponse,
    Refused,
    ResponseTimeout,
    Throttled,
    TooLarge,
    TrancheError,
    Unauthorized,
    Unreachable,
    Unreadable,
)

DELIVERY = {"project_name": "demo", "slicer_name": "delivery"}
WEEK = DELIVERY | {"start_date": "-7d", "end_date": "yesterday", "split_by": ("geo.country",)}
MOST = 100_000
WISH = 5
TRIES = 3
IMPATIENT_SECONDS = 0.5
Client = Reporting | Deals | TemporaryToken


@dataclass(frozen=True)
class Fault:
    """What happens on the way, what comes of it, and how often a read is asked for then."""

    behavior: Behavior
    error: type[TrancheError]
    tries: int = 1


FAULTS = {
    "silence": Fault(do.silent, ResponseTimeout),
    "a byte now and then": Fault(do.dripping, ResponseTimeout),
    "a byte of the head now and then": Fault(do.dripping_head, ResponseTimeout),
    "reset": Fault(do.reset, Unreachable, TRIES),
    "reset within": Fault(do.reset_within, Unreachable, TRIES),
    "cut off": Fault(do.cut(20), Unreachable, TRIES),
    "502 page": Fault(do.instead(502, do.HTML, do.PAGE), Unreachable, TRIES),
    "503": Fault(do.instead(503, do.HTML, b"", retry_after="0"), Unreachable, TRIES),
    "503 for longer than the deadline": Fault(
        do.instead(503, do.HTML, b"", retry_after=str(WISH)), Unreachable
    ),
    "429": Fault(do.instead(429, do.HTML, do.PAGE, retry_after=str(WISH)), Throttled),
    "504 page": Fault(do.instead(504, do.HTML, do.PAGE), ResponseTimeout),
    "garbage": Fault(do.instead(200, do.JSON, do.GARBAGE), Unreadable),
    "page": Fault(do.instead(200, do.HTML, do.PAGE), Unreadable),
    "too large": Fault(do.large(MOST), TooLarge),
    "half of it": Fault(do.changed(do.halved), Unreadable),
}
SLOW = ("a byte now and then", "a byte of the head now and then")
"""Each is waited out as silence is; by commit for figures and creations alone."""
USUAL = {name: fault for name, fault in FAULTS.items() if NIGHTLY or name not in SLOW}
WHOLE = {name: fault for name, fault in USUAL.items() if name != "half of it"}


def named(faults: dict[str, Fault]) -> Callable[..., Any]:
    """Once per fault."""
    return pytest.mark.parametrize("fault", [pytest.param(fault, id=name) for name, fault in faults.items()])


@pytest.fixture
def reporting(told: SyncState) -> Reporting:
    """A client of the reporting service behind its proxy."""
    line = reporting_line(told(max_answer_bytes=MOST))
    return Reporting(line.http, line.credential, line.patience)


@pytest.fixture
def dealing(told: SyncState) -> Callable[..., Deals]:
    """Clients of the deals service behind its proxy."""
    line = deals_line(told(max_answer_bytes=MOST))
    return lambda **options: Deals(line.http, line.credential, line.patience, codec=Dialect(), **options)


@pytest.fixture
def patience() -> float:
    """The seconds for an answer: enough for a busy machine. Where none comes, `impatient` waits less."""
    return PATIENCE


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a client pauses before it asks again is not what is tested here."""
    monkeypatch.setattr(call, "_FIRST_PAUSE", 0.02)


@contextmanager
def impatient(client: Client) -> Iterator[None]:
    """A client that gives up soon: what answers before and after may take its time."""
    timeout, patience = client._http.timeout, client._patience
    client._http.timeout = httpx.Timeout(IMPATIENT_SECONDS, connect=CONNECT_SECONDS)
    client._patience = replace(patience, seconds=IMPATIENT_SECONDS)
    yield
    client._http.timeout, client._patience = timeout, patience


def failing(fault: Fault, proxy: Proxy, client: Client, ask: Callable[[], object]) -> int:
    """How often the service was asked by the client, for an answer that fails as it should."""
    before, proxy.behavior = len(proxy.asked), fault.behavior
    haste = impatient(client) if fault.behavior in UNANSWERED else nullcontext()
    with haste, pytest.raises(fault.error) as caught:
        ask()
    assert type(caught.value) in (fault.error, MalformedResponse)
    assert getattr(caught.value, "retry_after", WISH) == WISH
    assert "127.0.0.1" not in caught.value.reason
    proxy.behavior = do.through
    return len(proxy.asked) - before


@named(USUAL)
def test_info(fault: Fault, reporting: Reporting, reports: Proxy) -> None:
    """What a slicer is: the fault's own error, as many tries as it is worth, then an answer."""
    query = InfoQuery(**DELIVERY)
    assert failing(fault, reports, reporting, lambda: reporting.info(query)) == fault.tries
    assert reporting.info(query).key_fields


@pytest.mark.parametrize("is_plain", [False, True], ids=["Arrow", "JSON"])
@named(FAULTS)
def test_audience(fault: Fault, is_plain: bool, reporting: Reporting, reports: Proxy) -> None:
    """Figures, whichever way they travel: the same."""
    query, slicer = AudienceQuery(**WEEK), reporting.info(InfoQuery(**DELIVERY))
    slicer = slicer.model_copy(update={"extensions": ()}) if is_plain else slicer
    assert failing(fault, reports, reporting, lambda: reporting.audience(query, slicer)) == fault.tries
    assert len(reporting.audience(query, slicer))


@named(WHOLE)
def test_export(fault: Fault, reporting: Reporting, reports: Proxy) -> None:
    """A file: the same, asked for once."""
    query = ExportQuery(**WEEK, export_format="csv")
    assert failing(fault, reports, reporting, lambda: reporting.export(query)) == 1
    assert reporting.export(query).content.read().startswith(b'"Country"')


@named(USUAL)
def test_list(fault: Fault, dealing: Callable[..., Deals], deals: Proxy) -> None:
    """A list of deals: the same."""
    client = dealing()
    assert failing(fault, deals, client, lambda: client.list(SupplyPackage)) == fault.tries
    assert client.list(SupplyPackage).count


@named(WHOLE)
def test_create(fault: Fault, dealing: Callable[..., Deals], deals: Proxy) -> None:
    """Without a key a package is asked for once, whatever happens: there are never two of it."""
    client, name = dealing(honors_keys=False), f"Once {uuid.uuid4()}"
    assert failing(fault, deals, client, lambda: client.create(SupplyPackage, package(name), "a key")) == 1
    assert client.list(SupplyPackage, search=name).count <= 1


@named(FAULTS)
def test_create_with_a_key(fault: Fault, dealing: Callable[..., Deals], deals: Proxy) -> None:
    """With a key it is repeated as a read is; asked again once the fault is over, there is one, this one."""
    client, name, key = dealing(), f"Keyed {uuid.uuid4()}", str(uuid.uuid4())
    assert (
        failing(fault, deals, client, lambda: client.create(SupplyPackage, package(name), key)) == fault.tries
    )
    new_package = client.create(SupplyPackage, package(name), key)
    assert [listed.id for listed in client.list(SupplyPackage, search=name).results] == [new_package.id]


def test_refused(reporting: Reporting, reports: Proxy) -> None:
    """Where nobody listens the service can't be reached; once somebody does, it answers."""
    reports.close()
    with pytest.raises(Unreachable):
        reporting.info(InfoQuery(**DELIVERY))
    assert not reports.asked
    reports.listen()
    assert reporting.info(InfoQuery(**DELIVERY)).key_fields


def test_passing_faults_are_not_noticed(reporting: Reporting, reports: Proxy) -> None:
    """What fails twice and then works has worked."""
    for fault in ("reset", "reset within", "cut off", "502 page", "503"):
        reports.behavior = do.first(TRIES - 1, FAULTS[fault].behavior)
        assert reporting.info(InfoQuery(**DELIVERY)).key_fields
    assert len(reports.asked) == 5 * TRIES


def test_connections_that_ended(reporting: Reporting, reports: Proxy) -> None:
    """A kept connection that the service has closed meanwhile is not used, and not counted as a failure."""
    reporting.info(InfoQuery(**DELIVERY))
    reports.close()
    reports.listen()
    reporting.info(InfoQuery(**DELIVERY))
    assert (len(reports.asked), reports.connections) == (2, 2)


def test_kept_connections(reporting: Reporting, reports: Proxy) -> None:
    """One connection serves for one question after the other."""
    for _ in range(3):
        reporting.info(InfoQuery(**DELIVERY))
    assert (len(reports.asked), reports.connections) == (3, 1)


def test_nothing_is_left_of_a_failure(reporting: Reporting, reports: Proxy) -> None:
    """The rest of an answer that was given up is not taken for the next one."""
    reporting.info(InfoQuery(**DELIVERY))
    for fault in ("too large", "a byte now and then", "cut off"):
        failing(FAULTS[fault], reports, reporting, lambda: reporting.info(InfoQuery(**DELIVERY)))
        assert reporting.info(InfoQuery(**DELIVERY)).key_fields


def test_other_types(
    reporting: Reporting, dealing: Callable[..., Deals], reports: Proxy, deals: Proxy
) -> None:
    """Right JSON is read whatever its type says."""
    for proxy in (reports, deals):
        proxy.behavior = do.changed(lambda answer: answer.typed("application/octet-stream"))
    slicer = reporting.info(InfoQuery(**DELIVERY)).model_copy(update={"extensions": ()})
    assert len(reporting.audience(AudienceQuery(**WEEK), slicer))
    assert dealing().list(SupplyPackage).count
    assert reporting.export(ExportQuery(**WEEK, export_format="csv")).content.read()


@pytest.mark.parametrize("code", [429, 503])
def test_long_retry_after_is_respected(code: int, reporting: Reporting, reports: Proxy) -> None:
    """A service that asks for a minute's rest is not asked again meanwhile, by anybody."""
    reports.behavior = do.instead(code, do.HTML, b"", retry_after="60")
    with pytest.raises((Throttled, Unreachable)):
        reporting.info(InfoQuery(**DELIVERY))
    reports.behavior = do.through
    with pytest.raises(CircuitOpen, match="The reporting service asks to wait and is retried in") as it:
        reporting.info(InfoQuery(**DELIVERY))
    assert 50 < it.value.retry_after <= 60
    assert len(reports.asked) == 1


def test_the_breaker(reporting: Reporting, reports: Proxy) -> None:
    """A service that fails again and again is left alone, and a sentence says for how long."""
    reports.behavior = do.reset
    with pytest.raises(Unreachable):
        reporting.info(InfoQuery(**DELIVERY))
    said = r"The reporting service does not answer and is retried in \d+ seconds"
    for _ in range(3):
        with pytest.raises(CircuitOpen, match=said):
            reporting.info(InfoQuery(**DELIVERY))
    assert len(reports.asked) == TRIES + 1


def test_a_token_that_is_refused(
    reporting: Reporting, dealing: Callable[..., Deals], reports: Proxy, deals: Proxy
) -> None:
    """A permanent token that is refused is not tried again."""
    for proxy in (reports, deals):
        proxy.behavior = do.instead(401, do.HTML, do.PAGE)
    with pytest.raises(Refused):
        reporting.info(InfoQuery(**DELIVERY))
    with pytest.raises(Unauthorized):
        dealing().list(SupplyPackage)
    assert (len(reports.asked), len(deals.asked)) == (1, 1)


@pytest.fixture
def renewing(told: SyncState, temporary: dict[str, object]) -> Reporting:
    """A client of the reporting service with temporary tokens."""
    line = reporting_line(told(**temporary))
    return Reporting(line.http, line.credential, line.patience)


def test_a_token_is_revoked_in_between(
    renewing: Reporting, service: Service, reports: Proxy, tokens: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary token that is revoked is renewed once, and who asked does not notice."""
    credential, store = renewing._credential, service.installation.access.store
    renewing.info(InfoQuery(**DELIVERY))
    for token in store.everything("manager"):
        if token.kind == "temporary" and token.revoked is None:
            store.revoke(token.id)
    now = credential._now
    monkeypatch.setattr(credential, "_now", lambda: now() + 60)
    assert renewing.info(InfoQuery(**DELIVERY)).key_fields
    assert (len(tokens.asked), len(reports.asked)) == (2, 3)


TOKEN_FAULTS = {
    "silence": Fault(do.silent, ResponseTimeout),
    "a byte of the head now and then": Fault(do.dripping_head, ResponseTimeout),
    "reset": Fault(do.reset, Unreachable, TRIES),
    "cut off": Fault(do.cut(20), Unreachable, TRIES),
    "502 page": Fault(do.instead(502, do.HTML, do.PAGE), Unreachable, TRIES),
    "429": Fault(do.instead(429, do.HTML, do.PAGE, retry_after=str(WISH)), Throttled),
    "garbage": Fault(do.instead(200, do.JSON, do.GARBAGE), Unreadable),
    "too large": Fault(do.large(2**20), Unreadable),
    "half of it": Fault(do.changed(do.halved), Unreadable),
}


@named(TOKEN_FAULTS)
def test_tokens(fault: Fault, renewing: Reporting, tokens: Proxy, reports: Proxy) -> None:
    """A token service that fails: its error, no question without a token, and an answer once it is over."""
    credential = renewing._credential
    assert isinstance(credential, TemporaryToken)
    assert failing(fault, tokens, credential, lambda: renewing.info(InfoQuery(**DELIVERY))) == fault.tries
    assert not reports.asked
    assert renewing.info(InfoQuery(**DELIVERY)).key_fields


def test_a_wrong_password_is_tried_once(renewing: Reporting, tokens: Proxy) -> None:
    """A refused name or password is not tried again for a minute: the service might lock the account."""
    tokens.behavior = do.instead(401, do.JSON, b'{"error": "invalid_grant"}')
    for _ in range(2):
        with pytest.raises(Refused):
            renewing.info(InfoQuery(**DELIVERY))
    assert len(tokens.asked) == 1


def test_a_hanging_token_service(renewing: Reporting, tokens: Proxy) -> None:
    """Eight threads that need a token wait for one answer together, in vain: not one after the other."""
    tokens.behavior = do.silent
    gate = threading.Barrier(8)

    def ask(_: int) -> type[BaseException] | None:
        gate.wait()
        try:
            renewing.info(InfoQuery(**DELIVERY))
        except TrancheError as error:
            return type(error)
        return None

    credential = renewing._credential
    assert isinstance(credential, TemporaryToken)
    with impatient(credential), ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {ResponseTimeout}
    assert len(tokens.asked) == 1


def package(name: str) -> SupplyPackage:
    """A package to create."""
    return SupplyPackage(name=name, media_type="banner", start_date="2026-01-01 09:30:00+0100")
