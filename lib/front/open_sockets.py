"""The desk's open WebSockets: which of them are signed in, and how many may be open without a sign-in.

A sign-in may begin and end while a socket is open, in the script that runs for it. The script finds the
socket by a header that the server itself adds to the handshake.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from weakref import WeakValueDictionary

HEADER = "tranche-socket"
VISITOR_BYTES = 32 * 2**10
"""A visitor's largest message: the sign-in takes 1 KB, the address of a screen with long filters 20 KB."""
PERSON_BYTES = 8 * 2**20
"""A signed-in person's largest message: it has the values of all widgets, a pasted list or CSV file too."""
TOO_MANY_REQUESTS, UNAVAILABLE = 429, 503


class OpenSocket:
    """An open WebSocket, from `address` (as `client_network` has it).

    `close` ends it to make room for another; `resize` sets the size of the largest message that it receives;
    `on_sign_in` is called, in any thread, when somebody has signed in or out while it was open.
    """

    def __init__(
        self,
        address: str,
        close: Callable[[], None],
        resize: Callable[[int], None],
        on_sign_in: Callable[[], None],
        *,
        is_signed_in: bool,
    ) -> None:
        self.id, self.address, self.runs = secrets.token_urlsafe(16), address, 0
        self.close, self._resize, self.on_sign_in = close, resize, on_sign_in
        self.is_signed_in = is_signed_in
        _by_id[self.id] = self

    @property
    def is_signed_in(self) -> bool:
        """Whether it belongs to somebody who is signed in."""
        return self._is_signed_in

    @is_signed_in.setter
    def is_signed_in(self, value: bool) -> None:
        self._is_signed_in = value
        self._resize(PERSON_BYTES if value else VISITOR_BYTES)


_by_id: WeakValueDictionary[str, OpenSocket] = WeakValueDictionary()


def note_sign_in(headers: Mapping[str, str], *, is_signed_in: bool) -> None:
    """Note what a run has found out: whether the socket with these headers of its handshake is signed in."""
    socket = _by_id.get(headers.get(HEADER, ""))
    if socket is not None and socket.is_signed_in != is_signed_in:
        socket.is_signed_in = is_signed_in
        socket.on_sign_in()


class OpenSockets:
    """The open sockets: at most `visitors` without a sign-in, and a third of these from one address."""

    def __init__(self, visitors: int) -> None:
        self._visitors, self._visitors_per_address = visitors, max(1, visitors // 3)
        self._sockets: dict[OpenSocket, None] = {}

    def add(self, socket: OpenSocket) -> int:
        """Add the socket; otherwise the HTTP status that says why there is no room for it.

        Where there are too many in all, the address with the most makes room, so that one that opens hundreds
        shuts out nobody else.
        """
        if not socket.is_signed_in:
            addresses = Counter(one.address for one in self._sockets if not one.is_signed_in)
            if addresses[socket.address] >= self._visitors_per_address:
                return TOO_MANY_REQUESTS
            if addresses.total() >= self._visitors:
                address, count = addresses.most_common(1)[0]
                if count <= addresses[socket.address] + 1:
                    return UNAVAILABLE
                self._oldest(address).close()
        self._sockets[socket] = None
        return 0

    def remove(self, socket: OpenSocket) -> None:
        """Remove the socket, if it is there."""
        self._sockets.pop(socket, None)

    def _oldest(self, address: str) -> OpenSocket:
        return next(one for one in self._sockets if one.address == address and not one.is_signed_in)
