"""A signed-in person's click on the Audience page while visitors' WebSockets do their worst, against without.

    python bench/sockets.py [sockets] [clicks] [data directory]

The visitors, in a process of their own that gives way to others, send reruns twenty times a second, widget
states of 12 MB, or `load_git_info`; whoever is disconnected connects again. Rounds with and without them take
turns, so that what else this machine does meets both. A click is a question of its own, until the script has
finished; it goes by Streamlit's protocol, without a browser. In each round another visitor signs in, too.
"""

import asyncio
import itertools
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Event
from pathlib import Path

from desk_clicks import desk, made, quantile
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect as connect_later
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

ROUNDS, SECONDS, A_SECOND, PAUSE = 3, 60, 20, 0.2
QUESTION = "project=demo&slicer=delivery&is.bid_context_wrapper.user.geo.country="
COUNTRIES = itertools.cycle(("US", "BR", "GB", "DE", "IN", "FR"))


def main() -> None:
    """Measure, and print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    clicks = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        home = Path(sys.argv[3]) if len(sys.argv) > 3 else made(Path(folder) / "home")
        print(f"ms; load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
        process_lock: list[float] = []
        beside: list[float] = []
        entries: list[tuple[float, float]] = []
        with desk(home) as address, opened(address) as person:
            sign_in(person)
            for _ in range(clicks):
                click(person)
            for _ in range(ROUNDS):
                process_lock += [click(person) for _ in range(clicks)]
                first = entry(address)
                with visitors(count, address):
                    beside += [click(person) for _ in range(clicks)]
                    entries.append((first, entry(address)))
    show("A click, alone", process_lock)
    show(f"A click, beside {count} such sockets", beside)
    ratios = [quantile(beside, percent) / quantile(process_lock, percent) for percent in (50, 95)]
    print(f"{'Ratio':42} {ratios[0]:9.2f}{ratios[1]:9.2f}")
    show("A visitor's sign-in, alone", [one for one, _ in entries])
    show(f"A visitor's sign-in, beside {count}", [one for _, one in entries])


def show(name: str, times: list[float]) -> None:
    """One line of the table: p50 and p95."""
    print(f"{name:42} {statistics.median(times):9,.0f}{quantile(times, 95):9,.0f}", flush=True)


def opened(address: str) -> ClientConnection:
    """A WebSocket as the desk's page opens it."""
    return connect(stream(address), subprotocols=["streamlit"], origin=address, max_size=None, proxy=None)


def stream(address: str) -> str:
    """The address of the WebSocket."""
    return address.replace("http", "ws", 1) + "/_stcore/stream"


def rerun(query: str = "", page: str = "", button: str = "") -> bytes:
    """A message of the browser, perhaps with a click on a button."""
    message = BackMsg()
    message.rerun_script.query_string, message.rerun_script.page_name = query, page
    if button:
        message.rerun_script.widget_states.widgets.add(id=button, trigger_value=True)
    return message.SerializeToString()


def answered(socket: ClientConnection) -> list[ForwardMsg]:
    """All messages until the script has finished."""
    messages = []
    while True:
        messages.append(ForwardMsg.FromString(socket.recv(SECONDS)))
        last = messages[-1]
        if last.WhichOneof("type") == "script_finished" and last.script_finished != 2:
            return messages


def sign_in(socket: ClientConnection) -> None:
    """Sign in by a click on the demo's manager."""
    socket.send(rerun())
    ids = [one.delta.new_element.button.id for one in answered(socket)]
    socket.send(rerun(button=next(one for one in ids if one.endswith("demo_manager"))))
    answered(socket)


def click(socket: ClientConnection) -> float:
    """Milliseconds from another question to the end of its run."""
    start = time.perf_counter()
    socket.send(rerun(QUESTION + next(COUNTRIES), "audience"))
    answered(socket)
    return (time.perf_counter() - start) * 1000


def entry(address: str) -> float:
    """Milliseconds from a visitor's handshake to the first page after their sign-in."""
    start = time.perf_counter()
    with opened(address) as socket:
        sign_in(socket)
    return (time.perf_counter() - start) * 1000


@contextmanager
def visitors(count: int, address: str) -> Iterator[None]:
    """So many visitors' sockets, from a process of their own."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    process = context.Process(target=crowd, args=(count, address, ready, done), daemon=True)
    process.start()
    ready.wait()
    try:
        yield
    finally:
        done.set()
        process.join()


def crowd(count: int, address: str, ready: Event, done: Event) -> None:
    """The sockets: of three, one sends reruns, one large states, and one asks for the state of git."""
    large, git = BackMsg(), BackMsg(load_git_info=True)
    large.rerun_script.widget_states.widgets.add(id="x", string_value="x" * 12_000_000)
    messages = (rerun(), large.SerializeToString(), git.SerializeToString())

    os.nice(19)  # the server's work is measured, not that of this process

    async def all_of_them() -> None:
        tasks = [asyncio.create_task(worst(address, messages[number % 3], done)) for number in range(count)]
        await asyncio.sleep(1)
        ready.set()
        await asyncio.gather(*tasks)

    asyncio.run(all_of_them())


async def worst(address: str, message: bytes, done: Event) -> None:
    """Send the message over and over, connecting again when disconnected."""
    while not done.is_set():
        with suppress(OSError, WebSocketException):
            options = {"subprotocols": ["streamlit"], "origin": address, "proxy": None, "compression": None}
            async with connect_later(stream(address), max_size=None, close_timeout=1, **options) as socket:
                reading = asyncio.create_task(read(socket))
                try:
                    while not done.is_set() and not reading.done():
                        await asyncio.wait_for(socket.send(message), SECONDS)
                        await asyncio.sleep(1 / A_SECOND)
                finally:
                    reading.cancel()
        await asyncio.sleep(PAUSE)


async def read(socket: object) -> None:
    """Read what is answered, and forget it."""
    with suppress(WebSocketException):
        async for _ in socket:  # type: ignore[attr-defined]
            pass


if __name__ == "__main__":
    main()
