"""The id of a request: the same in the log, in the answer, and in the details of a screen's error.

A caller may bring one (`X-Request-Id`); it is taken if it is well-formed, else one is made.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from lib.wire.errors import TrancheError

HEADER = "X-Request-Id"
PATTERN = re.compile(r"[A-Za-z0-9._:+/=-]{1,128}")
Result = TypeVar("Result")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id of the request that this thread or task works for; empty for none."""
    return _current.get()


def new_id() -> str:
    """A new id: 16 hexadecimal digits."""
    return secrets.token_hex(8)


def id_of_caller(value: str | None) -> str:
    """The id that a caller brought, or a new one in place of none or of one that isn't well-formed."""
    return value if value and PATTERN.fullmatch(value) else new_id()


@contextmanager
def under(request_id: str) -> Iterator[None]:
    """Work for the request of this id."""
    before = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(before)


@contextmanager
def asking() -> Iterator[None]:
    """Ask a service under a new id, which an error of the block carries."""
    with under(new_id()):
        try:
            yield
        except TrancheError as error:
            error.request_id = error.request_id or current()
            raise


def carry_id(work: Callable[[], Result]) -> Callable[[], Result]:
    """`work` for another thread, under the id of this one."""
    request_id = current()
    if not request_id:
        return work

    def carrying() -> Result:
        with under(request_id):
            return work()

    return carrying
