"""The proxy's behaviors: one per fault between a desk and a service."""

import threading
from collections.abc import Callable

from faults.proxy import Answer, Behavior, Exchange, WriteRequest

PAGE = b"<!doctype html><html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>"
GARBAGE = b"\x00\x9f\xfe{not json"
DRIP_SECONDS = 0.02
JSON, HTML = "application/json", "text/html; charset=utf-8"


def through(exchange: Exchange) -> None:
    """Nothing happens: what is asked is answered."""
    _send(exchange, exchange.answer())


def instead(status: int, media_type: str, body: bytes, **headers: str) -> Behavior:
    """Something on the way answers in the service's place."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return lambda exchange: _send(exchange, Answer(status, (("content-type", media_type), *named), body))


def changed(change: Callable[[Answer], Answer]) -> Behavior:
    """The service's answer, changed on the way."""
    return lambda exchange: _send(exchange, change(exchange.answer()))


def held(until: threading.Event) -> Behavior:
    """No answer until it is let go, or the client hangs up."""

    def behave(exchange: Exchange) -> None:
        while not until.is_set():
            exchange.wait()
        through(exchange)

    return behave


def silent(exchange: Exchange) -> None:
    """No answer, ever."""
    while True:
        exchange.wait()


def cut(after: int) -> Behavior:
    """So many bytes of the body, then the end of the connection."""

    def behave(exchange: Exchange) -> None:
        answer = exchange.answer()
        exchange.send(answer.head() + answer.body[:after])
        exchange.end()

    return behave


def reset(exchange: Exchange) -> None:
    """The connection is broken off before the first byte."""
    exchange.reset()


def reset_within(exchange: Exchange) -> None:
    """The connection is broken off in the middle of the body."""
    answer = exchange.answer()
    exchange.send(answer.head() + answer.body[: len(answer.body) // 2])
    exchange.reset()


def dripping(exchange: Exchange) -> None:
    """The head at once, then a byte of the body now and then, without an end."""
    exchange.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n")
    _drip(exchange, b" ")


def dripping_head(exchange: Exchange) -> None:
    """A byte of the head now and then, without an end."""
    exchange.send(b"HTTP/1.1 200 OK\r\nx-padding: ")
    _drip(exchange, b"x")


def large(size: int) -> Behavior:
    """An answer of so many bytes."""
    return instead(200, JSON, b'{"status": "success", "padding": "' + b"x" * size + b'"}')


def revoked(token: Callable[[], str]) -> Behavior:
    """Whoever comes with this token is refused it; others pass."""

    def behave(exchange: Exchange) -> None:
        if token().encode() in exchange.asked.body + exchange.asked.headers.get("authorization", "").encode():
            _send(exchange, Answer(401, (("content-type", JSON),), b'{"detail": "Wrong token"}'))
        else:
            through(exchange)

    return behave


def where(concerns: Callable[[WriteRequest], bool], behavior: Behavior) -> Behavior:
    """The behavior for the requests that it concerns; others pass."""
    return lambda exchange: (behavior if concerns(exchange.asked) else through)(exchange)


def first(count: int, behavior: Behavior) -> Behavior:
    """The behavior for the first so many requests; later ones pass."""
    left = threading.Semaphore(count)
    return lambda exchange: (behavior if left.acquire(blocking=False) else through)(exchange)


def halved(answer: Answer) -> Answer:
    """Half of the body, with the length that it has."""
    return Answer(answer.status, answer.headers, answer.body[: len(answer.body) // 2])


def _send(exchange: Exchange, answer: Answer) -> None:
    exchange.send(answer.head() + answer.body)


def _drip(exchange: Exchange, piece: bytes) -> None:
    while True:
        exchange.wait(DRIP_SECONDS)
        exchange.send(piece)
