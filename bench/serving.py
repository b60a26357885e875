"""Small questions through the reporting API beside a bare route that sends the same bytes, in one run.

    python bench/serving.py [seconds] [database URL]

Requests per second with 1, 8 and 32 clients, and the server's processor milliseconds per request; clients
are on one processor, the server on another. The two take turns, so that what else this machine does meets
both. State is in SQLite, or in the PostgreSQL of the URL (an empty database).
"""

import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pandas as pd
import pyarrow as pa
import uvicorn
from starlette.requests import Request
from starlette.responses import Response

from lib.people import Person
from lib.serving import connect
from lib.serving.front.server import listening
from lib.settings import Settings
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.slicers.warehouse import Warehouse

CLIENTS, SERVER, CALLERS, ROUNDS = (1, 8, 32), 0, 1, 3
QUESTION, BARE = "/API/v2/audience", "/bare"
QUERY = {
    "project_name": "bench",
    "slicer_name": "small",
    "start_date": "2026-01-01",
    "end_date": "2026-01-01",
}
DEFINITION = Definition(
    time=TimeColumn(column="time", granularity="day"),
    key_fields=(KeyFieldDefinition(name="site"),),
    data_fields=(DataFieldDefinition(name="imps"),),
)


def main() -> None:
    """Measure, and print a table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    print(f"load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print(f"{'clients':>8}{'':4}{'requests a second':>18}{'bare':>8}", end="")
    print(f"{'ms of processor':>17}{'bare':>8}{'times':>7}")
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (port, token, process):
        os.sched_setaffinity(0, {CALLERS})
        body = json.dumps({**QUERY, "token": token, "split_by": ["site"]}).encode()
        for clients in CLIENTS:
            costs: dict[str, list[tuple[float, float]]] = {QUESTION: [], BARE: []}
            for _ in range(ROUNDS):
                for path, measured in costs.items():
                    measured.append(measure(port, path, body, clients, seconds, process))
            (rate, cost), (bare_rate, bare_cost) = (best(measured) for measured in costs.values())
            print(f"{clients:8}{'':4}{rate:18.0f}{bare_rate:8.0f}", end="")
            print(f"{cost:17.2f}{bare_cost:8.2f}{cost / bare_cost:7.1f}")


def best(measured: list[tuple[float, float]]) -> tuple[float, float]:
    """The highest rate, and the least cost: what disturbs the machine only makes them worse."""
    return max(rate for rate, _ in measured), min(cost for _, cost in measured)


def measure(
    port: int, path: str, body: bytes, clients: int, seconds: float, process: int
) -> tuple[float, float]:
    """Requests per second, and the server's processor milliseconds of each."""
    before = processor_seconds(process)
    began = time.monotonic()
    count = asyncio.run(ask(port, path, body, clients, seconds))
    return count / (time.monotonic() - began), 1000 * (processor_seconds(process) - before) / count


async def ask(port: int, path: str, body: bytes, clients: int, seconds: float) -> int:
    """How many requests so many clients had answered, each sending its next once the last is answered."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    ends = time.monotonic() + seconds

    async def client() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        count = 0
        while time.monotonic() < ends:
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 200"), answer
            if b"chunked" in answer:
                while size := int(await reader.readline(), 16):
                    await reader.readexactly(size + 2)
                await reader.readline()
            else:
                length = answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length))
            count += 1
        writer.close()
        return count

    return sum(await asyncio.gather(*(client() for _ in range(clients))))


def processor_seconds(process: int) -> float:
    """What a process has used so far."""
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, str, int]]:
    """The port of a server in a process of its own, a token, and the process's number."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, theirs), daemon=True)
    process.start()
    try:
        port, token = ours.recv()
        yield port, token, process.pid or 0
    finally:
        process.kill()


def serve(folder: Path, pipe: Connection) -> None:
    """Serve a slicer of three rows, and the bytes of one of its answers at a bare route of the same API."""
    os.sched_setaffinity(0, {SERVER})
    url = {"database_url": sys.argv[2]} if len(sys.argv) > 2 else {}
    settings = Settings(home=folder / "home", throttle_questions=1_000_000, **url)
    installation = connect.installation(settings)
    installation.access.add(Person("bench", "Bench", None, "admin"), "a long password", "bench")
    token = installation.access.issue("bench", "reporting", "bench", None)
    rows = pd.DataFrame(
        {"time": pd.Timestamp("2026-01-01"), "site": ["a", "b", "c"], "imps": [1.0, 2.0, 3.0]}
    )
    with Warehouse(settings.warehouse).writer("bench", "small", DEFINITION, {}) as writer:
        writer.write(pa.Table.from_pandas(rows, DEFINITION.schema(), preserve_index=False))
        writer.commit("bench", "bench")
    body = {**QUERY, "token": token, "split_by": ["site"]}
    answer = installation.http.post(QUESTION, json=body)
    answer.raise_for_status()

    async def bare(request: Request) -> Response:
        await request.body()
        return Response(answer.content, media_type="application/json")

    installation.api.add_api_route(BARE, bare, methods=["POST"])
    with listening("127.0.0.1", 0) as listener:
        pipe.send((listener.getsockname()[1], token))
        uvicorn.Server(uvicorn.Config(installation.api, log_level="critical")).run([listener])


if __name__ == "__main__":
    main()
