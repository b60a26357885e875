"""A desk that is far away: a proxy on this machine that delays each byte, in both directions."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

DELAY_SECONDS = 0.15
CHUNK_BYTES = 65_536


@contextmanager
def far_away(address: str, delay: float = DELAY_SECONDS) -> Iterator[str]:
    """The address of the desk at `address`, behind a network that takes `delay` seconds each way."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = _await(asyncio.start_server(partial(_connect, address, delay), "127.0.0.1", 0), loop)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        _await(_close(listening), loop)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _connect(
    address: str, delay: float, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    target = urlsplit(address)
    try:
        there = await asyncio.open_connection(target.hostname, target.port)
    except OSError:
        writer.close()
        return
    try:
        await asyncio.gather(_pass_on(reader, there[1], delay), _pass_on(there[0], writer, delay))
    except asyncio.CancelledError:
        for end in (writer, there[1]):
            end.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Write what is read, each piece `delay` seconds later; close after the last."""
    loop = asyncio.get_running_loop()
    try:
        while data := await reader.read(CHUNK_BYTES):
            loop.call_later(delay, writer.write, data)
    except OSError:
        pass  # a broken connection ends like a closed one
    finally:
        loop.call_later(delay, writer.close)


async def _close(listening: asyncio.Server) -> None:
    listening.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _await(work: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Any:
    return asyncio.run_coroutine_threadsafe(work, loop).result(30)
