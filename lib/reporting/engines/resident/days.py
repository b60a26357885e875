"""What a layout knows of each of its days: enough to make the layout of other days around it.

It is kept beside the table of contents in `days.json`. All of it follows from the rows of the day alone.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

from lib.reporting.definition import Definition
from lib.reporting.engines.resident.bounds import Limits
from lib.reporting.warehouse import StoredSlicer

DAYS = "days.json"
EPOCH = date(1970, 1, 1)

Origin = list[list[str]]


@dataclass(frozen=True)
class Day:
    """One day: its number since 1970, the files of its rows (name and digest), and figures over its records.

    `volume` has Σ|y| per additive data field, `smallest` is the least size of a record in its day. Per
    additive atom there are Σ|y| (`sums`), whether a value is `negative`, and its sums in each of `hours`
    (`hourly`).
    """

    day: int
    origin: Origin
    records: int
    volume: dict[str, float]
    smallest: float
    sums: list[float]
    negative: list[bool]
    bounds: Limits
    hours: list[int]
    hourly: list[list[float]]


def save(folder: Path, recipe: str, days: Sequence[Day]) -> None:
    """Write days.json. The sums per hour are in the table of contents."""
    fields = [{name: value for name, value in vars(day).items() if name != "hourly"} for day in days]
    (folder / DAYS).write_text(json.dumps({"recipe": recipe, "days": fields}), encoding="ascii")


def load(folder: Path, recipe: str, hourly: list[list[float]]) -> list[Day] | None:
    """The days of a layout with these sums per hour; None if it was made by another recipe."""
    content = json.loads((folder / DAYS).read_bytes())
    if content["recipe"] != recipe:
        return None
    ends = accumulate(len(day["hours"]) for day in content["days"])
    return [
        Day(**day, hourly=hourly[end - len(day["hours"]) : end])
        for day, end in zip(content["days"], ends, strict=True)
    ]


def recipe(definition: Definition, seed: int) -> str:
    """Changes with everything but the rows that a layout depends on."""
    return sha256(f"{seed} {definition.model_dump_json()}".encode()).hexdigest()


def origin(stored: StoredSlicer, day: date) -> Origin:
    """The files of a day's rows, by name and digest."""
    return [[path.name, stored.digests.get(path, "")] for path in stored.files[day]]
