"""Connections to ClickHouse. What questions are answered with is tested by the conformance suite."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ibis
import pytest
from connected import CONNECTION

from lib.engines.connected import Connections
from lib.wire.deadline import Deadline
from lib.wire.errors import DeadlineExceeded, InternalError, Misconfigured, SourceUnavailable


def test_a_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its package, a connection to ClickHouse is refused with what to install."""
    monkeypatch.setitem(sys.modules, "clickhouse_connect", None)
    monkeypatch.delitem(sys.modules, "ibis.backends.clickhouse", raising=False)
    monkeypatch.delitem(vars(ibis), "clickhouse", raising=False)
    with pytest.raises(Misconfigured, match="pip install clickhouse-connect"):
        Connections({CONNECTION: "clickhouse://reader@localhost:1/rows"}).table(CONNECTION, "sales")


def test_an_option_that_it_does_not_have() -> None:
    """A URL with another option than `secure` is refused."""
    with pytest.raises(Misconfigured, match="not readonly"):
        Connections({CONNECTION: "clickhouse://localhost/rows?readonly=1"}).table(CONNECTION, "sales")


def test_distinct_values_are_counted_to_the_last(clickhouse_database: str) -> None:
    """Ibis's own count of distinct values is an estimate where they are many; ours is exact."""
    connections = Connections({CONNECTION: clickhouse_database})
    numbers = ibis.table({"number": "uint64"}, name="numbers", database="system").limit(300_000)
    texts = numbers.select(user=(numbers.number % 200_001).cast("string"))
    counted = texts.aggregate(users=texts.user.nunique())
    assert connections.rows(CONNECTION, counted, Deadline())["users"].to_pylist() == [200_001]


def test_statements_end_with_the_deadline(clickhouse_database: str) -> None:
    """The server stops a statement that takes longer than the deadline."""
    connections = Connections({CONNECTION: clickhouse_database})
    endless = ibis.table({"number": "uint64"}, name="numbers", database="system")
    crossed = endless.cross_join(endless.view()).aggregate(found=lambda table: table.number.sum())
    with pytest.raises(DeadlineExceeded):
        connections.rows(CONNECTION, crossed, Deadline(1.0))


def test_a_server_that_is_gone(clickhouse_database: str) -> None:
    """A server that does not answer is told as that, without its address and without the password."""
    with pytest.raises((SourceUnavailable, InternalError)) as problem:
        Connections({CONNECTION: "clickhouse://reader:hushhush@127.0.0.1:1/rows"}).table(CONNECTION, "sales")
    assert isinstance(problem.value, SourceUnavailable)
    assert "hushhush" not in problem.value.reason


class RefusingServer(BaseHTTPRequestHandler):
    """Answers each statement with an error of ClickHouse."""

    error = b""

    def do_GET(self) -> None:
        """A statement in the address."""
        self.do_POST()

    def do_POST(self) -> None:
        """A statement in the body."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(404)
        self.send_header("Content-Length", str(len(self.error)))
        self.end_headers()
        self.wfile.write(self.error)

    def log_message(self, *parts: object) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            "Code: 47, e.displayText() = DB::Exception: Unknown identifier: readonly",
            "too old for the package",
        ),
        ("Code: 193, e.displayText() = DB::Exception: Wrong password for user x", "refused the login"),
        ("Code: 192, e.displayText() = DB::Exception: Unknown user x", "refused the login"),
        ("Code: 516. DB::Exception: x: Authentication failed", "refused the login"),
        ("Code: 81. DB::Exception: Database x does not exist", "refused the login"),
    ],
)
def test_a_server_that_refuses(monkeypatch: pytest.MonkeyPatch, error: str, sentence: str) -> None:
    """What is wrong with the server or the settings is said: another question would change nothing.

    The first two were seen of a server of Debian 12 (18.16).
    """
    pytest.importorskip("clickhouse_connect")
    monkeypatch.setattr(RefusingServer, "error", error.encode())
    with ThreadingHTTPServer(("127.0.0.1", 0), RefusingServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"clickhouse://127.0.0.1:{server.server_address[1]}/default"
        with pytest.raises(Misconfigured, match=sentence):
            Connections({CONNECTION: url}).table(CONNECTION, "sales")
        server.shutdown()
