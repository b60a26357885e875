"""The desk's open WebSockets: which of Streamlit's messages they pass on, and which of them are signed in.

Streamlit trusts its browsers: `load_git_info` runs git, `clear_cache` empties the caches of everybody,
`install_skills` writes files, and what a rerun says of widgets is kept whether they were ever drawn or not.

A sign-in may begin and end while a socket is open, in the script that runs for it. The script finds the
socket by a header that the server itself adds to the handshake.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

RERUN, STOP, OPERATION = "rerun_script", "stop_script", "backend_operation_request"
PERSON_TYPES, VISITOR_TYPES = (RERUN, STOP, OPERATION), (RERUN, STOP)
PAGES = ("new_session", "navigation")  # messages that say which page is open
OPERATIONS = ("deferred_file",)  # the file of a download button, made on its click
WIDGETS = ("$$ID-", "$$STREAMLIT_INTERNAL_KEY_$$ID-")  # a widget; what a component sends once, as a file
VALUES = {"text_input": "string_value", "button": "trigger_value"}
TRIGGERS = ("trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value")
LONGEST_QUERY, LARGEST_WIDGET, LONGEST_TEXT = 20_000, 2_000, 500
EARLY = 2  # FINISHED_EARLY_FOR_RERUN: the same run goes on
LARGEST_NOTE = 8_000
"""The bytes of the largest message to a person that is looked at: the start of a run takes about 1,900."""
HEADER = "tranche-socket"
VISITOR_BYTES = 32 * 2**10
"""A visitor's largest message: the sign-in takes 1 KB, the address of a screen with long filters 20 KB."""
PERSON_BYTES = 8 * 2**20
"""A signed-in person's largest message: it has the values of all widgets, a pasted list or CSV file too."""
TOO_MANY_REQUESTS, UNAVAILABLE = 429, 503
SHARED_AFTER = 20


class PolicyViolation(Exception):
    """A message for which the socket is closed; its text is the reason."""


@dataclass(frozen=True)
class Protocol:
    """Streamlit's messages as they are parsed: from the browser, and from the server."""

    from_browser: Callable[[bytes], Any]
    from_server: Callable[[bytes], Any]


@dataclass
class Messages:
    """The messages of one socket. `drawn_values` are the widgets that the sign-in page has drawn.

    `page` is the page that is open, by its hash as Streamlit has it; empty until that is known.
    """

    protocol: Protocol
    drawn_values: dict[str, str] = field(default_factory=dict)
    page: str = ""

    def read(self, data: bytes | None, *, is_signed_in: bool) -> Any:
        """The message in these bytes, reduced to what may pass, or None. Raises PolicyViolation."""
        if data is None:
            raise PolicyViolation("a text message")
        try:
            message = self.protocol.from_browser(data)
        except Exception as error:  # protobuf's DecodeError, whichever implementation it has
            raise PolicyViolation("a message that can't be parsed") from error
        kind = message.WhichOneof("type")
        if kind not in (PERSON_TYPES if is_signed_in else VISITOR_TYPES):
            raise PolicyViolation(f"the message {kind}" if kind else "a message without a type")
        if kind == OPERATION and message.backend_operation_request.WhichOneof("payload") not in OPERATIONS:
            raise PolicyViolation("an operation that no screen needs")
        if kind != RERUN:
            return message
        state = message.rerun_script
        # Whether this runs a part of a page that is not open any more. A browser that is far away sends
        # such runs until the next page reaches it. Streamlit would answer one that comes during the first
        # run of the next page with the page that was left, at which the browser clears the new one.
        if state.fragment_id and self.page and state.page_script_hash != self.page:
            return None
        if not state.fragment_id:
            self.page = state.page_script_hash or self.page
        accepts = _is_widget if is_signed_in else self._is_drawn
        widgets = [widget for widget in state.widget_states.widgets if accepts(widget)]
        if len(widgets) < len(state.widget_states.widgets):
            del state.widget_states.widgets[:]
            state.widget_states.widgets.extend(widgets)
        return message if is_signed_in else self._reduce(message)

    def note_output(self, data: bytes, *, is_signed_in: bool) -> bool:
        """Note the open page, and what a message to a visitor draws; returns whether it ends a run."""
        if is_signed_in and len(data) > LARGEST_NOTE:
            return False
        message = self.protocol.from_server(data)
        kind = message.WhichOneof("type")
        if kind in PAGES:
            self.page = getattr(message, kind).page_script_hash
        if kind == "delta" and not is_signed_in:
            element = message.delta.new_element
            name = element.WhichOneof("type")
            if value := VALUES.get(name or ""):
                self.drawn_values[getattr(element, name).id] = value
        return kind == "script_finished" and int(message.script_finished) != EARLY

    def _reduce(self, message: Any) -> Any:
        """A visitor's rerun with no more than the sign-in page can send. None for one of a part of the page.

        The sign-in page has no parts that run alone.
        """
        state = message.rerun_script
        if state.fragment_id:
            return None
        message.DiscardUnknownFields()
        del state.cached_message_hashes[:]
        if len(state.query_string) > LONGEST_QUERY:
            state.query_string = ""
        if max(len(state.page_script_hash), len(state.page_name)) > LONGEST_TEXT:
            state.page_script_hash = state.page_name = ""
        if state.context_info.ByteSize() > LARGEST_WIDGET:
            state.ClearField("context_info")
        return message

    def _is_drawn(self, widget: Any) -> bool:
        is_small: bool = widget.ByteSize() <= LARGEST_WIDGET
        return is_small and self.drawn_values.get(widget.id, "") == widget.WhichOneof("value")


def _is_widget(widget: Any) -> bool:
    """Whether Streamlit has made this identifier: any other would be a name in the session's own state."""
    is_made: bool = widget.id.startswith(WIDGETS)
    return is_made


def supersedes(earlier: Any, later: Any) -> bool:
    """Whether a run for the later message makes one for the earlier needless. The later gets its clicks.

    Both are reruns of the whole of one page. A browser sends a click once, and all other values each time.
    """
    if {message.WhichOneof("type") for message in (earlier, later)} != {RERUN}:
        return False
    pages = {
        (message.rerun_script.page_script_hash, message.rerun_script.page_name)
        for message in (earlier, later)
    }
    if len(pages) > 1 or earlier.rerun_script.fragment_id or later.rerun_script.fragment_id:
        return False
    widgets = later.rerun_script.widget_states.widgets
    ids = {widget.id for widget in widgets}
    clicks = [
        widget
        for widget in earlier.rerun_script.widget_states.widgets
        if widget.WhichOneof("value") in TRIGGERS and widget.id not in ids
    ]
    widgets.extend(clicks)
    return True


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
    """The open sockets: at most `visitors` without a sign-in, and a third of these from one address.

    Those of other desks count too, as they were when the desks exchanged their counts last: `is_due` once as
    many have come or gone as a twentieth of what one address may have.
    """

    def __init__(self, visitors: int) -> None:
        self._visitors, self._visitors_per_address = visitors, max(1, visitors // 3)
        self._sockets: dict[OpenSocket, None] = {}
        self._last_counts, self.others = Counter[str](), Counter[str]()

    @property
    def visitors(self) -> Counter[str]:
        """How many of each address are open here without a sign-in."""
        return Counter(socket.address for socket in self._sockets if not socket.is_signed_in)

    @property
    def is_due(self) -> bool:
        """Whether to exchange counts before another one is added."""
        visitors = self.visitors
        change = (visitors - self._last_counts) + (self._last_counts - visitors)
        return change.total() >= max(1, self._visitors_per_address // SHARED_AFTER)

    def exchange(self, own: Counter[str], others: Counter[str]) -> None:
        """Note our counts as other desks know them, and theirs."""
        self._last_counts, self.others = own, others

    def add(self, socket: OpenSocket) -> int:
        """Add the socket; otherwise the HTTP status that says why there is no room for it.

        Where there are too many in all, one of the address with the most is closed, so that an address that
        opens hundreds blocks no other.
        """
        if not socket.is_signed_in:
            visitors = self.visitors
            everywhere = visitors + self.others
            if everywhere[socket.address] >= self._visitors_per_address:
                return TOO_MANY_REQUESTS
            if everywhere.total() >= self._visitors:
                address = max(visitors, key=lambda address: everywhere[address], default=socket.address)
                if everywhere[address] <= everywhere[socket.address] + 1:
                    return UNAVAILABLE
                oldest = next(
                    open_socket
                    for open_socket in self._sockets
                    if open_socket.address == address and not open_socket.is_signed_in
                )
                oldest.close()
        self._sockets[socket] = None
        return 0

    def remove(self, socket: OpenSocket) -> None:
        """Remove the socket, if it is there."""
        self._sockets.pop(socket, None)
