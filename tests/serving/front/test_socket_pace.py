"""Whose turn it is among the desk's WebSockets, and how many of them there may be."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from streamlit.proto.BackMsg_pb2 import BackMsg

from lib import database
from lib.people.tokens.tally import Tally
from lib.serving.front.socket_messages import (
    HEADER,
    PERSON_BYTES,
    VISITOR_BYTES,
    OpenSocket,
    OpenSockets,
    note_sign_in,
    supersedes,
)
from lib.serving.front.socket_pace import VISITOR_RUNS, Limiter, Pace, Rate, RunQueue


def socket(address: str = "192.0.2.1", *, is_signed_in: bool = False) -> OpenSocket:
    """A socket that notes whether it was closed, and the size of its messages."""
    sizes: list[int] = []
    closed: list[bool] = []
    open_socket = OpenSocket(
        address, partial(closed.append, True), sizes.append, lambda: None, is_signed_in=is_signed_in
    )
    open_socket.sizes, open_socket.closed = sizes, closed  # type: ignore[attr-defined]
    return open_socket


def test_a_pace_is_kept() -> None:
    """So many at once, then one each so many seconds; a pause earns no more than the first number."""
    pace = Pace(Rate(3, 2.0))
    assert [pace.take(100.0) for _ in range(5)] == [0, 0, 0, 2, 4]
    assert [pace.take(1000.0) for _ in range(4)] == [0, 0, 0, 2]


def test_an_address_shares_a_pace() -> None:
    """The sockets of an address have one limit more together; those of another one don't feel it."""
    limiter = Limiter(Rate(2, 10.0), Rate(3, 1.0))
    first, second, other = socket(), socket(), socket("192.0.2.2")
    assert [limiter.take(first, 5.0) for _ in range(3)] == [0, 0, 10]
    assert limiter.take(second, 5.0) == 1
    assert limiter.take(other, 5.0) == 0


def queued(story: Callable[[RunQueue], Awaitable[None]]) -> None:
    """Run the story with a queue, in a loop of its own: this thread may have a browser's."""

    async def run() -> None:
        await asyncio.wait_for(story(RunQueue()), 60)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result()


async def settle() -> None:
    """Let all that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_sign_in_ends_a_visit() -> None:
    """The rest of a run in which somebody signs in keeps no visitor waiting."""

    async def story(runs: RunQueue) -> None:
        people = [socket(f"192.0.2.{number}") for number in range(VISITOR_RUNS)]
        for person in people:
            await runs.begin(person)
        visitor = asyncio.create_task(runs.begin(socket("192.0.2.200")))
        await settle()
        assert not visitor.done()
        people[0].is_signed_in = True
        runs.note_sign_in(people[0])
        await settle()
        assert visitor.done()

    queued(story)


def test_who_has_just_come_is_first() -> None:
    """Of the visitors who wait, the one with the fewest runs so far gets the next one."""

    async def story(runs: RunQueue) -> None:
        busy = [socket(f"192.0.2.{number}") for number in range(VISITOR_RUNS)]
        for open_socket in busy:
            await runs.begin(open_socket)
            runs.end(open_socket)
            await runs.begin(open_socket)
        again, fresh = socket(), socket("192.0.2.200")
        again.runs = 1
        order: list[OpenSocket] = []

        async def wait(waiting_socket: OpenSocket) -> None:
            await runs.begin(waiting_socket)
            order.append(waiting_socket)

        tasks = [asyncio.create_task(wait(late_socket)) for late_socket in (again, fresh)]
        await settle()
        assert not order
        runs.end(busy[0])
        await settle()
        assert order == [fresh]
        runs.end(fresh)
        await asyncio.gather(*tasks)
        assert order == [fresh, again]

    queued(story)


def test_people_do_not_wait_for_visitors() -> None:
    """Somebody signed in begins at once, whoever runs; a visitor who leaves waits no longer."""

    async def story(runs: RunQueue) -> None:
        for number in range(VISITOR_RUNS):
            await runs.begin(socket(f"192.0.2.{number}"))
        late = socket()
        waiting = asyncio.create_task(runs.begin(late))
        await settle()
        await runs.begin(socket(is_signed_in=True))
        assert not waiting.done()
        runs.leave(late)
        await waiting

    queued(story)


def test_the_largest_crowd_makes_room() -> None:
    """From one address a third, in all so many; then the address with the most loses its oldest socket."""
    sockets, crowd = OpenSockets(6), [socket("192.0.2.1") for _ in range(3)]
    assert [sockets.add(open_socket) for open_socket in crowd] == [0, 0, 429]
    others = [socket(address) for address in ("192.0.2.2", "192.0.2.2", "192.0.2.3", "192.0.2.3")]
    assert [sockets.add(open_socket) for open_socket in others] == [0, 0, 0, 0]
    assert sockets.add(socket("192.0.2.4")) == 0
    assert [len(open_socket.closed) for open_socket in (*crowd, *others)] == [1, 0, 0, 0, 0, 0, 0]  # type: ignore[attr-defined]
    assert sockets.add(socket("192.0.2.1", is_signed_in=True)) == 0
    for crowd_socket in crowd:
        sockets.remove(crowd_socket)


def test_nobody_makes_room_for_a_crowd_of_equals() -> None:
    """Where all addresses have as many, the newcomer is asked to come later."""
    sockets = OpenSockets(3)
    assert [sockets.add(socket(f"192.0.2.{number}")) for number in range(4)] == [0, 0, 0, 503]


def test_sockets_of_other_desks_count(database_url: str) -> None:
    """Two desks that exchange counts when they are due admit a third of `visitors` from one address, and one
    more at most; what another one closes makes room once it has said so."""
    engine = database.engine(database_url)
    database.migrate(engine)
    desks = [(OpenSockets(30), Tally(engine, "visitors")) for _ in range(2)]
    admitted = []
    for turn in range(30):
        sockets, tally = desks[turn % 2]
        if sockets.is_due:
            exchange(sockets, tally)
        if not sockets.add(newcomer := socket("192.0.2.1")):
            admitted.append((sockets, newcomer))
    assert len(admitted) in (10, 11)
    for sockets, leaving in admitted:
        sockets.remove(leaving)
    for sockets, tally in (*desks, desks[0]):
        exchange(sockets, tally)
    assert [desks[0][0].add(socket("192.0.2.1")) for _ in range(11)] == [0] * 10 + [429]
    engine.dispose()


def exchange(sockets: OpenSockets, tally: Tally) -> None:
    """Say what is open here, and hear what is elsewhere."""
    visitors = sockets.visitors
    elsewhere = tally.hold(visitors)
    assert elsewhere is not None
    sockets.exchange(visitors, elsewhere)


def test_a_crowd_at_another_desk_fills_this_one() -> None:
    """With too many in all, the address with the most at all desks loses its oldest socket here."""
    sockets = OpenSockets(6)
    crowd, few = socket("192.0.2.1"), socket("192.0.2.2")
    assert [sockets.add(crowd), sockets.add(few)] == [0, 0]
    sockets.exchange(sockets.visitors, Counter({"192.0.2.1": 1, "192.0.2.3": 2, "192.0.2.4": 1}))
    assert sockets.add(socket("192.0.2.3")) == 429
    assert sockets.add(socket("192.0.2.5")) == 0
    assert [len(open_socket.closed) for open_socket in (crowd, few)] == [1, 0]  # type: ignore[attr-defined]


def test_a_socket_is_found_by_the_header_that_the_server_added() -> None:
    """A sign-in and a sign-out change what its socket may send; an unknown header changes nothing."""
    new_socket = socket()
    for value in (True, False):
        note_sign_in({HEADER: new_socket.id}, is_signed_in=value)
        assert new_socket.is_signed_in is value
    note_sign_in({HEADER: "other"}, is_signed_in=True)
    note_sign_in({}, is_signed_in=True)
    assert not new_socket.is_signed_in
    assert new_socket.sizes == [VISITOR_BYTES, PERSON_BYTES, VISITOR_BYTES]  # type: ignore[attr-defined]


def test_a_superseded_click_is_kept() -> None:
    """A rerun is dropped for a later one, which gets its clicks; one of a part of the page is not dropped."""

    def rerun(fragment: str = "", **values: object) -> BackMsg:
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.widget_states.widgets.add(id="text", string_value="later")
        for name, value in values.items():
            message.rerun_script.widget_states.widgets.add(id=name, trigger_value=value)
        return message

    later = rerun(other=True)
    assert supersedes(rerun(button=True), later)
    widgets = later.rerun_script.widget_states.widgets
    assert [widget.id for widget in widgets] == ["text", "other", "button"]
    assert not supersedes(rerun("part"), rerun())
    assert not supersedes(rerun(), rerun("part"))
    assert not supersedes(BackMsg(stop_script=True), rerun())
    other_page = rerun()
    other_page.rerun_script.page_name = "audience"
    assert not supersedes(other_page, rerun())
