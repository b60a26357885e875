"""Stops the work for a request once its caller has disconnected."""

import asyncio
from concurrent.futures import Future
from typing import Any, TypeVar

from starlette.types import Receive

from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned

Result = TypeVar("Result")


async def answered(work: "Future[Result]", receive: Receive, deadline: Deadline) -> Result:
    """The result of `work`, which checks `deadline`; Abandoned once the caller has disconnected.

    The request's body must have been read: what `receive` gives after it is the news that the caller left.
    Over a socket that is a closed connection, embedded a closed or timed-out response.
    """
    result = asyncio.wrap_future(work)
    left = asyncio.ensure_future(gone(receive))
    either: set[asyncio.Future[Any]] = {result, left}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            raise Abandoned("The caller is gone")
        return result.result()
    finally:
        left.cancel()
        if not result.done():
            deadline.abandon()
            result.cancel()


async def gone(receive: Receive) -> None:
    """Return once the caller has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
