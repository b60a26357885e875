"""A click on the Audience page alone and while others click too, and the page from a cold link, in a browser.

    python bench/desk_people.py [people] [clicks] [desks]

One person clicks in Chromium. The others are sessions without a browser, since twenty browsers would measure
this machine: each clicks every five seconds on average, drawn with a fixed seed, and does what the page's
overview does for a click: it asks the route, has the first figure with the first line, then tells Streamlit.
Ten of them share an account: clicks are throttled by account. One desk has SQLite; several are over one
PostgreSQL, behind the nginx of `deploy/`.
"""

import asyncio
import multiprocessing
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
from desk_clicks import (
    ARGUMENTS,
    CARD,
    CHROMIUM,
    INTERACTIONS,
    SCREEN,
    click,
    desk,
    heading,
    made,
    opened,
    show,
)
from playwright.sync_api import Browser, Page, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_socket
from websockets.exceptions import WebSocketException

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))  # before the serving.py of this folder
import databases
from nginx import nginx
from serving import free_port

from lib.people import Grant, Person
from lib.people.cookies import SignIn
from lib.serving import connect
from lib.settings import Settings

PAUSE_SECONDS, LONGEST_SECONDS, OPEN_SECONDS = 5.0, 60.0, 60.0
COOKIE = "tranche_desk"  # by which nginx sends a browser to the same desk
SESSION_SECONDS, AN_ACCOUNT = 7200, 10
EARLY = 2  # FINISHED_EARLY_FOR_RERUN: the same run goes on
COUNTRY = "bid_context_wrapper.user.geo.country"
QUESTION = "project=demo&slicer=delivery"
VALUES = ("US", "BR", "GB", "DE", "IN", "FR")
FIRST = Path(__file__).with_name("desk_first.js").read_text()


def main() -> None:
    """Measure, and print a table."""
    people = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    clicks = (int(sys.argv[2]) if len(sys.argv) > 2 else 10) // 2 * 2  # what is kept is released again
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
        print(f"{people} people at {count} desk(s); load of this machine {os.getloadavg()[0]:.1f}")
        heading()
        with desks(Path(folder), count, people - 1) as (address, sessions):
            page = opened(browser, address)
            show("A click, alone", clicked(page, clicks))
            found = [cold(browser, page, address) for _ in range(clicks)]
            show("The page from a cold link", [(first, last) for first, last, _ in found])
            print(f"{'Layout shift of that page, at most':42} {max(shift for *_, shift in found):9.3f}")
            with others(people - 1, address, sessions) as answered:
                show(f"A click, with {people - 1} others", clicked(page, clicks))
            waits, failed = answered()
            show("A click of those others", waits)
            print(f"{'Their questions':42} {len(waits):9,}")
            print(f"{'Failed connections':42} {failed:9,}")


@contextmanager
def desks(folder: Path, count: int, people: int) -> Iterator[tuple[str, list[str]]]:
    """The address of so many desks over a demo, and the sessions of so many people."""
    with ExitStack() as stack:
        if count == 1:
            sessions = cookies(made(folder / "home"), people)
            yield stack.enter_context(desk(folder / "home")), sessions
            return
        server = stack.enter_context(databases.server(databases.found()))
        os.environ["TRANCHE_DATABASE_URL"] = databases.new_database_of(server.url)
        sessions = cookies(made(folder / "home"), people)
        port = free_port()
        told = {"TRANCHE_ORIGINS": f"http://127.0.0.1:{port}", "TRANCHE_TRUSTED_PROXIES": "127.0.0.1"}
        addresses = [
            stack.enter_context(desk(folder / "home", TRANCHE_PORT=str(free_port()), **told))
            for _ in range(count)
        ]
        yield stack.enter_context(nginx(folder, port, addresses)), sessions


def clicked(page: Page, clicks: int) -> list[tuple[float, float]]:
    """The times of so many clicks of each interaction."""
    return [click(page, what[turn % len(what)]) for what in INTERACTIONS.values() for turn in range(clicks)]


def cold(browser: Browser, signed_in: Page, address: str) -> tuple[float, float, float]:
    """A link opened by somebody signed in with an empty cache: first figure, last, layout shift."""
    context = browser.new_context(viewport=SCREEN)
    context.add_cookies(signed_in.context.cookies())
    page = context.new_page()
    page.add_init_script(FIRST)
    page.goto(f"{address}/audience?{QUESTION}&{asked('US')}")
    page.locator(f"{CARD} tr.row").first.wait_for()
    first, last, shift = page.evaluate("measured()")
    context.close()
    return first, last, shift


def cookies(home: Path, people: int) -> list[str]:
    """The sessions of so many people, as headers, before the desk starts. Their accounts are made anew."""
    installation, ends = connect.installation(Settings(home=home, demo=True)), time.time() + SESSION_SECONDS
    headers = []
    for name in (f"clicks-{number}" for number in range(-(-people // AN_ACCOUNT))):
        if installation.people.get(name) is None:
            person = Person(name, name, None, "manager", (Grant("*"),))
            installation.access.add(person, secrets.token_urlsafe(), "bench")
        installation.sessions.begin(name, ends)
        value = installation.cookies.session_value(SignIn(name, ends))
        headers += AN_ACCOUNT * [f"{installation.cookies.session_name}={value}"]
    return headers


def asked(value: str) -> str:
    """A filter by country, as the address of the page has it."""
    return f"is.{COUNTRY}={quote(value)}"


@contextmanager
def others(count: int, address: str, sessions: list[str], pause: float = PAUSE_SECONDS) -> Iterator:
    """So many people in a process of their own.

    The function returns their waits and the number of failed connections, once they have left.
    """
    context = multiprocessing.get_context("spawn")
    ready, done, waits = context.Event(), context.Event(), context.Queue()
    process = context.Process(
        target=crowd, args=(count, address, sessions, pause, ready, done, waits), daemon=True
    )
    process.start()
    ready.wait()
    try:
        yield lambda: waits.get(timeout=OPEN_SECONDS + LONGEST_SECONDS)
    finally:
        done.set()


def crowd(
    count: int,
    address: str,
    sessions: list[str],
    pause: float,
    ready: Event,
    done: Event,
    waits: multiprocessing.Queue,
) -> None:
    """The people; `waits` gets the milliseconds of each of their questions, and the number of failures."""

    async def all_of_them() -> None:
        found: list[tuple[float, float]] = []
        people = [
            asyncio.create_task(person(number, address, sessions[number], pause, found, done))
            for number in range(count)
        ]
        await asyncio.sleep(PAUSE_SECONDS * 2)
        ready.set()
        found.clear()
        failed = sum(await asyncio.gather(*people))
        waits.put((found, failed))

    asyncio.run(all_of_them())


async def person(
    number: int, address: str, cookie: str, pause: float, found: list[tuple[float, float]], done: Event
) -> int:
    """One person, who clicks until `done`, and reconnects after a failure. Returns the number of failures.

    Of several desks each browser stays with one, by a cookie.
    """
    failed, draw = 0, np.random.default_rng(number)
    told = {"Cookie": cookie, "Origin": address}
    async with httpx.AsyncClient(base_url=address, headers=told, timeout=LONGEST_SECONDS) as client:
        number = (await client.get("/")).cookies.get(COOKIE)
        client.cookies.clear()
        if number:
            client.headers["Cookie"] = told["Cookie"] = f"{cookie}; {COOKIE}={number}"
        where = address.replace("http", "ws", 1) + "/_stcore/stream"
        options = {"subprotocols": ["streamlit"], "additional_headers": told, "max_size": None, "proxy": None}
        # as a browser, which reads on between clicks: a client that stops reading answers no ping
        options |= {"ping_interval": None, "open_timeout": OPEN_SECONDS, "max_queue": None}
        while not done.is_set():
            try:
                async with connect_socket(where, **options) as socket:
                    while not done.is_set():
                        await asyncio.sleep(draw.uniform(0.5, 1.5) * pause)
                        found.append(await clicked_by(client, socket, draw.choice(VALUES)))
            except (OSError, WebSocketException, httpx.HTTPError) as error:
                print(f"Person {number}: {error!r}", file=sys.stderr, flush=True)
                failed += 1
                await asyncio.sleep(PAUSE_SECONDS)
    return failed


async def clicked_by(client: httpx.AsyncClient, socket: ClientConnection, value: str) -> tuple[float, float]:
    """The milliseconds until the first figures for that value have come, and until all that belongs to it."""
    start = time.monotonic()
    about = {"project": "demo", "slicer": "delivery", "acts": [["include", [[COUNTRY, value]]]]}
    async with client.stream("POST", "/overview/answer", json=about) as answer:
        answer.raise_for_status()
        lines = answer.aiter_lines()
        await anext(lines)
        first = (time.monotonic() - start) * 1000
        async for _ in lines:
            pass
    message = BackMsg()
    message.rerun_script.query_string, message.rerun_script.page_name = (
        f"{QUESTION}&{asked(value)}",
        "audience",
    )
    await socket.send(message.SerializeToString())
    async with asyncio.timeout(LONGEST_SECONDS):
        while not is_over(await socket.recv()):
            pass
    return first, (time.monotonic() - start) * 1000


def is_over(data: bytes) -> bool:
    """Whether a message of Streamlit ends the run."""
    message = ForwardMsg.FromString(data)
    return message.WhichOneof("type") == "script_finished" and message.script_finished != EARLY


if __name__ == "__main__":
    main()
