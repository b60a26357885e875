"""Memory of the desk before, while and after people use it over WebSockets.

    python bench/desk_memory.py [people] [minutes] [data directory]

The people are those of desk_people.py: sessions without a browser, each of which asks another question every
five seconds on average. After they have left, sessions that were closed are kept for two minutes.
"""

import sys
import tempfile
import threading
import time
from pathlib import Path

from desk_clicks import desk, made
from desk_people import cookies, others

KEPT_SECONDS, SAMPLE_SECONDS = 150.0, 1.0


def main() -> None:
    """Measure, and print a line for each time."""
    people = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(sys.argv[3]) if len(sys.argv) > 3 else made(Path(folder) / "home")
        sessions = cookies(home, people)
        with desk(home) as address:
            process = int((home / "desk.lock").read_text())
            measure(process, people, minutes, address, sessions)


def measure(process: int, people: int, minutes: float, address: str, sessions: list[str]) -> None:
    """Print the memory before, at its peak, at the end, and once the sessions are gone."""
    show("Before", memory(process))
    over, peak = threading.Event(), [0]
    sampling = threading.Thread(target=sample, args=(process, over, peak))
    sampling.start()
    with others(people, address, sessions) as answered:
        time.sleep(minutes * 60)
        show(f"{people} people, after {minutes:g} minutes", memory(process))
    waits, failed = answered()
    over.set()
    sampling.join()
    show("At its peak", peak[0])
    time.sleep(KEPT_SECONDS)
    show(f"{KEPT_SECONDS:g} s after the last one left", memory(process))
    print(f"{'Questions':42} {len(waits):9,}")
    print(f"{'Failed connections':42} {failed:9,}")


def sample(process: int, over: threading.Event, peak: list[int]) -> None:
    """Keep the largest memory in `peak` until it is over."""
    while not over.wait(SAMPLE_SECONDS):
        peak[0] = max(peak[0], memory(process))


def memory(process: int) -> int:
    """Bytes of the process that are in memory (proc(5))."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def show(name: str, size: int) -> None:
    """One line of the table, in MB."""
    print(f"{name:42} {size / 1e6:9,.0f} MB", flush=True)


if __name__ == "__main__":
    main()
