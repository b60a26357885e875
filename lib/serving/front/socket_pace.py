"""How many messages and runs of the script each WebSocket gets, and whose turn it is."""

import asyncio
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from lib.serving.front.socket_messages import OpenSocket

RUN_SECONDS = 10.0
"""A run that takes longer waits for something outside this process, and blocks no other run."""
VISITOR_RUNS = 2
"""Runs for visitors at the same time. One takes 15 ms of a core, and 0.2 s where it checks a password."""
ADDRESSES_BEFORE_A_SWEEP = 1000


@dataclass(frozen=True)
class Rate:
    """So many `at_once`, and after that one each `seconds`."""

    at_once: int
    seconds: float


VISITOR_MESSAGES, VISITOR_MESSAGES_PER_ADDRESS = Rate(30, 0.2), Rate(300, 0.01)
"""A person at the sign-in page sends a message for each click, and none for what they type."""
VISITOR_RUNS_PER_SOCKET, VISITOR_RUNS_PER_ADDRESS = Rate(8, 1.0), Rate(50, 0.1)
PERSON_MESSAGES, PERSON_MESSAGES_PER_ADDRESS = Rate(200, 0.03), Rate(2000, 0.002)
"""A slider that is dragged sends ten a second; a company behind one address has hundreds of people."""
VISITORS_BESIDE_PEOPLE, BESIDE_SECONDS = Rate(4, 0.25), 1.0
"""Runs for visitors while somebody signed in works, and a second longer: 6 % of a core, 2 sign-ins in it."""


class Pace:
    """Keeps to a rate (the generic cell rate algorithm, ITU-T I.371)."""

    def __init__(self, rate: Rate) -> None:
        self._seconds, self._burst_seconds = rate.seconds, rate.seconds * (rate.at_once - 1)
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Seconds until the next one conforms to the rate."""
        return max(0.0, self._next - self._burst_seconds - now)

    def take(self, now: float) -> float:
        """Count one, and return the seconds to wait for it."""
        wait = self.wait(now)
        self._next = max(self._next, now) + self._seconds
        return wait

    def go_on(self, end: float) -> None:
        """Go on where what is counted elsewhere ends, if that is later."""
        self._next = max(self._next, end)


class Limiter:
    """A rate for each socket, and one for all sockets of an address together."""

    def __init__(self, per_socket: Rate, per_address: Rate) -> None:
        self._per_socket, self._per_address = per_socket, per_address
        self._sockets: WeakKeyDictionary[OpenSocket, Pace] = WeakKeyDictionary()
        self._addresses: dict[str, Pace] = {}

    def wait(self, socket: OpenSocket, now: float) -> float:
        """Seconds until the next one of this socket conforms to both rates."""
        return max(pace.wait(now) for pace in self._paces(socket))

    def take(self, socket: OpenSocket, now: float) -> float:
        """Count one of this socket, and return the seconds to wait for it."""
        if len(self._addresses) > ADDRESSES_BEFORE_A_SWEEP:
            self._addresses = {
                address: pace for address, pace in self._addresses.items() if pace.wait(now) > 0
            }
        return max(pace.take(now) for pace in self._paces(socket))

    def _paces(self, socket: OpenSocket) -> tuple[Pace, Pace]:
        own = self._sockets.get(socket)
        if own is None:
            own = self._sockets[socket] = Pace(self._per_socket)
        return own, self._addresses.setdefault(socket.address, Pace(self._per_address))


class RunQueue:
    """Whose run begins next. People who are signed in don't wait; visitors wait for one another.

    Of the visitors who wait, the one with the fewest runs so far is first: somebody who has just come is not
    behind sockets that send without end.
    """

    def __init__(self) -> None:
        self._limiter = Limiter(VISITOR_RUNS_PER_SOCKET, VISITOR_RUNS_PER_ADDRESS)
        self._beside_people = Pace(VISITORS_BESIDE_PEOPLE)
        self._waiting: dict[OpenSocket, asyncio.Future[None]] = {}
        self._visitors: dict[OpenSocket, float] = {}
        self._people: dict[OpenSocket, float] = {}
        self._last_of_people = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    async def begin(self, socket: OpenSocket) -> None:
        """Wait until a run for this socket may begin, or the socket leaves."""
        loop = asyncio.get_running_loop()
        if socket.is_signed_in:
            self._people[socket] = self._last_of_people = loop.time()
            return
        turn = self._waiting[socket] = loop.create_future()
        try:
            self._start()
            await turn
        finally:
            self._waiting.pop(socket, None)

    def end(self, socket: OpenSocket) -> None:
        """The run for this socket is over."""
        if self._people.pop(socket, None) is not None:
            self._last_of_people = asyncio.get_running_loop().time()
        self._visitors.pop(socket, None)
        self._start()

    def note_sign_in(self, socket: OpenSocket) -> None:
        """Somebody has signed in during the run for this socket: the rest of it is a person's."""
        if socket.is_signed_in and (start := self._visitors.pop(socket, None)) is not None:
            self._people[socket] = start
            self._last_of_people = asyncio.get_running_loop().time()
            self._start()

    def leave(self, socket: OpenSocket) -> None:
        """The socket is closed: it waits for nothing."""
        turn = self._waiting.pop(socket, None)
        if turn is not None and not turn.done():
            turn.set_result(None)
        self.end(socket)

    def _start(self) -> None:
        """Start the runs that may begin now, and look again when the next one may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while waiting := [socket for socket, turn in self._waiting.items() if not turn.done()]:
            now = loop.time()
            waits = {socket: self._wait(socket, now) for socket in waiting}
            # Until any visitor may have a run, as far as is known now: `end` looks again.
            for runs in (self._visitors, self._people):
                for socket in [socket for socket, start in runs.items() if now - start >= RUN_SECONDS]:
                    del runs[socket]
            wait = self._beside_people.wait(now) if self._is_beside_people(now) else 0.0
            if len(self._visitors) >= VISITOR_RUNS:
                wait = max(wait, min(self._visitors.values()) + RUN_SECONDS - now)
            if wait := max(min(waits.values()), wait):
                self._timer = loop.call_later(wait, self._start)
                return
            socket = min((socket for socket in waiting if not waits[socket]), key=lambda socket: socket.runs)
            if self._is_beside_people(now):
                self._beside_people.take(now)
            self._limiter.take(socket, now)
            self._visitors[socket] = now
            socket.runs += 1
            self._waiting[socket].set_result(None)

    def _wait(self, socket: OpenSocket, now: float) -> float:
        """Seconds until this socket may have a run: by its rates, and when the one that it has is over."""
        own = self._visitors.get(socket)
        remaining = 0.0 if own is None else max(0.0, own + RUN_SECONDS - now)
        return max(remaining, self._limiter.wait(socket, now))

    def _is_beside_people(self, now: float) -> bool:
        return bool(self._people) or now - self._last_of_people < BESIDE_SECONDS
