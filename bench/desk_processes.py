"""Clicks of many people at one and at several desk processes (`--processes`), by turns in one run.

    python bench/desk_processes.py [people] [seconds] [pause] [data directory]

People without a browser click as in bench/desk_people.py, every `pause` seconds on average. A pause of 0.2
keeps the desk busy: what it does in a second is then what it can. They take time of the same processors.
"""

import sys
import tempfile
import time
from pathlib import Path

from desk_clicks import made, quantile, running
from desk_people import cookies, others

ROUNDS, COUNTS, PORT = 2, (1, 2), 8557


def main() -> None:
    """Measure, and print a table."""
    people, seconds, pause = 50, 30.0, 0.2
    given = sys.argv[1:4]
    people = int(given[0]) if given else people
    seconds = float(given[1]) if len(given) > 1 else seconds
    pause = float(given[2]) if len(given) > 2 else pause
    with tempfile.TemporaryDirectory() as folder:
        home = Path(sys.argv[4]) if len(sys.argv) > 4 else made(Path(folder) / "home")
        print(f"{people} people, {seconds:g} seconds each, a click every {pause:g} seconds\n")
        print(f"{'processes':>10}{'clicks a second':>18}{'first figure p50':>18}{'p95, ms':>10}{'failed':>8}")
        rates: dict[int, list[float]] = {count: [] for count in COUNTS}
        for count in COUNTS * ROUNDS:
            rate = measured(home, count, people, seconds, pause)
            rates[count].append(rate)
        ratio = sum(rates[COUNTS[1]]) / sum(rates[COUNTS[0]])
        print(f"\nTwo processes do {ratio:.2f} times what one does")


def measured(home: Path, count: int, people: int, seconds: float, pause: float) -> float:
    """Clicks a second with so many processes; prints a line."""
    told = {"TRANCHE_HOME": str(home), "TRANCHE_PORT": str(PORT), "TRANCHE_PROCESSES": str(count)}
    with running([sys.executable, "app.py"], told) as address:
        with others(people, address, cookies(home, people), pause) as answered:
            time.sleep(seconds)
        waits, failed = answered()
    first = [wait for wait, _ in waits]
    rate = len(waits) / seconds
    print(
        f"{count:10}{rate:18.1f}{quantile(first, 50):18,.0f}{quantile(first, 95):10,.0f}{failed:8}",
        flush=True,
    )
    return rate


if __name__ == "__main__":
    main()
