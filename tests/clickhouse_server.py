"""ClickHouse's HTTP protocol over chdb, which is ClickHouse as a library: `clickhouse_server.py FOLDER`.

It serves what clickhouse-connect asks for: a statement in the body or URL, settings in the URL, answers in
the format that the statement names. Statements run one after the other. It prints the port that it has.
"""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

NOT_SETTINGS = {
    "query",
    "database",
    "query_id",
    "session_id",
    "compress",
    "decompress",
    "client_protocol_version",
    "wait_end_of_query",
    "session_check",
}
LOCK = threading.Lock()
FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)


def answer(session: Session, text: str, settings: dict[str, str]) -> bytes:
    """What ClickHouse answers a statement with."""
    named = FORMAT.search(text)
    kind = named[1] if named else settings.pop("default_format", "TabSeparated")
    plain = text[: named.start()] if named else text
    for name, value in settings.items():
        if not name.startswith("param_"):
            session.query(f"SET {name} = {json.dumps(value).replace(chr(34), chr(39))}")
    return session.query(plain, kind).bytes()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    session: Session

    def do_GET(self) -> None:
        """A statement in the URL, or a sign of life."""
        self._answer(b"")

    def do_POST(self) -> None:
        """A statement in the body."""
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        given = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        text = "\n".join(part for part in (given.get("query", ""), body.decode()) if part)
        settings = {name: value for name, value in given.items() if name not in NOT_SETTINGS}
        try:
            with LOCK:
                content, status = (answer(self.session, text, settings) if text else b"Ok.\n"), 200
        except Exception as error:
            content, status = str(error).encode(), 500
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if status != 200:
            code = re.search(rb"Code: (\d+)", content)
            self.send_header("X-ClickHouse-Exception-Code", code[1].decode() if code else "1000")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *parts: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    Handler.session = Session(sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        sys.stdout.write(f"{server.server_address[1]}\n")
        sys.stdout.flush()
        server.serve_forever()
