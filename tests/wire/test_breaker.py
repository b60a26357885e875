"""The breaker: a service that fails again and again is left alone for a while."""

from collections.abc import Iterator

import httpx
import pytest
from clocks import Stopwatch

from lib.wire.breaker import Breaker
from lib.wire.call import Call, call, stream
from lib.wire.errors import BadRequest, CircuitOpen, Unreachable
from wire.test_call import BUSY, OK, Service


@pytest.fixture
def clock() -> Stopwatch:
    """A clock that stands still."""
    return Stopwatch()


@pytest.fixture
def breaker(clock: Stopwatch) -> Breaker:
    """A breaker that opens after two failures, for ten seconds."""
    return Breaker("the reporting service", failures=2, seconds=10, now=clock)


def ask(service: Service, breaker: Breaker, retries: int = 0) -> httpx.Response:
    """One call to the service, under the breaker's eyes, without pauses."""
    asked = Call("POST", "/", breaker=breaker, retries=retries)
    return call(service.client(), asked, lambda seconds: None)


@pytest.fixture
def open_breaker(breaker: Breaker) -> Iterator[Breaker]:
    """A breaker over a service that has just failed twice."""
    for _ in range(2):
        with pytest.raises(Unreachable):
            ask(Service(None), breaker)
    yield breaker


def test_a_dead_service_is_not_asked(open_breaker: Breaker) -> None:
    """After two failures in a row nothing is sent, and the sentence says when it will be."""
    service = Service(OK)
    with pytest.raises(
        CircuitOpen, match="The reporting service does not answer and is retried in 10 seconds"
    ):
        ask(service, open_breaker)
    assert (service.asked, open_breaker.rest) == ([], 10)


def test_it_recovers(open_breaker: Breaker, clock: Stopwatch) -> None:
    """After its rest the service is asked, and an answer makes everything as it was."""
    clock.seconds += 10
    assert ask(Service(OK), open_breaker).status_code == 200
    with pytest.raises(Unreachable) as caught:
        ask(Service(None), open_breaker)
    assert not isinstance(caught.value, CircuitOpen)
    assert ask(Service(OK), open_breaker).status_code == 200


def test_one_tries_for_all(open_breaker: Breaker, clock: Stopwatch) -> None:
    """While one call tries whether the service is back, others go on to be refused."""
    clock.seconds += 10
    with stream(Service(OK).client(), Call("GET", "/", breaker=open_breaker)), pytest.raises(CircuitOpen):
        ask(Service(OK), open_breaker)


def test_a_failed_try_begins_a_new_rest(open_breaker: Breaker, clock: Stopwatch) -> None:
    """If the one call fails, the service is left alone again for as long."""
    clock.seconds += 10
    with pytest.raises(Unreachable):
        ask(Service(None), open_breaker)
    assert open_breaker.rest == 10


def test_a_gateway_counts_as_a_failure(breaker: Breaker) -> None:
    """502 and 503 are a gateway's way of saying that the service is dead."""
    assert [ask(Service(BUSY), breaker).status_code for _ in range(2)] == [503, 503]
    assert breaker.rest == 10


def test_answers_of_the_service_do_not_count(breaker: Breaker) -> None:
    """A 500, and an answer that the caller can't use, are answers: the service is there."""
    for _ in range(5):
        ask(Service((500, {}, b"x")), breaker)
        with pytest.raises(BadRequest), stream(Service(OK).client(), Call("GET", "/", breaker=breaker)):
            raise BadRequest("no")
    assert breaker.rest == 0


EXPLAINED = {"X-Request-Id": "1", "Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("headers", "opens"),
    [
        (EXPLAINED, False),
        ({**EXPLAINED, "Retry-After": "1"}, True),
        ({"Content-Type": "application/json"}, True),
        ({"X-Request-Id": "1"}, True),
    ],
    ids=["of one slicer", "of a database", "JSON of a gateway", "a page with an id"],
)
def test_a_slicer_that_is_misconfigured_closes_no_service(
    breaker: Breaker, headers: dict[str, str], opens: bool
) -> None:
    """A service that says what is wrong with one slicer answers; it is asked for the others."""
    for _ in range(2):
        ask(Service((503, headers, b"{}")), breaker)
    assert (breaker.rest > 0) == opens


def test_only_failures_in_a_row_count(breaker: Breaker) -> None:
    """An answer in between begins the count again."""
    for answer in (None, OK, None):
        if answer is None:
            with pytest.raises(Unreachable):
                ask(Service(answer), breaker)
        else:
            ask(Service(answer), breaker)
    assert breaker.rest == 0


def test_retries_end_where_the_rest_begins(breaker: Breaker) -> None:
    """A call that may be repeated does not go on against an open breaker."""
    service = Service(None, None, None, None)
    with pytest.raises(CircuitOpen):
        ask(service, breaker, retries=3)
    assert len(service.asked) == 2
