"""A signed-in person's click on the Audience page with and without floods of callers without an account.

    python bench/floods.py [clients] [clicks] [data directory]

Clients are on one processor, the desk is on another, the click's included. Each flood is of so many callers,
who send their next request as soon as the last is answered: HTTP clients on the first page, on the token
service with a form that is none, on the reporting API with a token that is none, and on a share link that is
none; or the WebSockets of sockets.py. Clicks with and without them take turns, in one run: what else this
machine does meets both. The ratio of p95 counts: at most 2.
"""

import asyncio
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from desk_clicks import RUNNING, desk, made, quantile
from sockets import click, opened, sign_in, visitors
from websockets.sync.client import ClientConnection

ROUNDS, DESK, CLIENTS = 4, 0, 1
BEFORE, PAUSE = 3, 0.1  # seconds before clicks, in which a flood gets what it gets at once, and between them
FORM = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 19"
FLOODS = {
    "the first page": "GET / HTTP/1.1\r\nAccept: text/html",
    "malformed token requests": f"POST /oauth2/token/ HTTP/1.1\r\n{FORM}\r\n\r\ngrant_type=password",
    "a bad token": "POST /API/v2/info HTTP/1.1\r\nAuthorization: Bearer x\r\nContent-Length: 2\r\n\r\n{}",
    "a share link that is none": f"GET /shared/1.{'k' * 32} HTTP/1.1",
}
"""What a caller sends; the header Host is added."""


def main() -> None:
    """Measure, and print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    clicks = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    os.sched_setaffinity(0, {CLIENTS})
    with tempfile.TemporaryDirectory() as folder:
        home = Path(sys.argv[3]) if len(sys.argv) > 3 else made(Path(folder) / "home")
        print(f"ms; load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
        with desk(home) as address:
            for process in RUNNING:
                move(process)
            heading()
            for name in (*FLOODS, "WebSockets"):
                with opened(address) as person:
                    sign_in(person)
                    compare(name, person, clicks, count, address)


def move(process: int) -> None:
    """Move a process, with all threads that it has, to the desk's processor."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {DESK})


def heading() -> None:
    """The first line of the table."""
    titles = ("p50", "beside", "ratio", "p95", "beside", "ratio", "requests/s")
    print(f"{'A click beside':28}{''.join(f'{title:>11}' for title in titles)}", flush=True)


def compare(name: str, person: ClientConnection, clicks: int, count: int, address: str) -> None:
    """One line of the table: a person's clicks with and without a flood, in turns."""
    alone: list[float] = []
    beside: list[float] = []
    answers = 0
    clicked(person, clicks)
    for _ in range(ROUNDS):
        alone += clicked(person, clicks)
        if name in FLOODS:
            with flood(FLOODS[name], count, address) as answered:
                start = time.perf_counter()
                beside += clicked(person, clicks)
                answers += int(answered() / (time.perf_counter() - start))
        else:
            with visitors(count, address):
                beside += clicked(person, clicks)
    columns = []
    for percent in (50, 95):
        times = quantile(alone, percent), quantile(beside, percent)
        columns += [f"{times[0]:,.0f}", f"{times[1]:,.0f}", f"{times[1] / times[0]:.2f}"]
    columns.append(f"{answers // ROUNDS:,}" if answers else "")
    print(f"{name:28}{''.join(f'{column:>11}' for column in columns)}", flush=True)


def clicked(person: ClientConnection, clicks: int) -> list[float]:
    """The times of so many clicks."""
    times = []
    for _ in range(clicks):
        times.append(click(person))
        time.sleep(PAUSE)
    return times


@contextmanager
def flood(text: str, count: int, address: str) -> Iterator[Callable[[], int]]:
    """So many callers, from a process of their own; the function says how many answers they had so far."""
    context = multiprocessing.get_context("spawn")
    ready, done, answers = context.Event(), context.Event(), context.Value("q", 0)
    process = context.Process(target=crowd, args=(text, count, address, ready, done, answers), daemon=True)
    process.start()
    ready.wait()
    before = answers.value
    try:
        yield lambda: answers.value - before
    finally:
        done.set()
        process.join()


def crowd(text: str, count: int, address: str, ready: Event, done: Event, answers: Any) -> None:
    """The callers, which count their answers."""
    host, _, port = address.partition("://")[2].partition(":")
    head, _, body = text.partition("\r\n\r\n")
    request = f"{head}\r\nHost: {host}:{port}\r\n\r\n{body}".encode()

    async def caller() -> None:
        while not done.is_set():
            with suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection(host, int(port))
                with closing(writer):
                    while not done.is_set() and not reader.at_eof():
                        writer.write(request)
                        await answered(reader)
                        answers.value += 1

    async def all_of_them() -> None:
        tasks = [asyncio.create_task(caller()) for _ in range(count)]
        await asyncio.sleep(BEFORE)
        ready.set()
        await asyncio.gather(*tasks)

    asyncio.run(all_of_them())


async def answered(reader: asyncio.StreamReader) -> None:
    """Read an answer to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = re.search(r"content-length: (\d+)", head)
    await reader.readexactly(int(length[1]) if length else 0)


if __name__ == "__main__":
    main()
