"""Writes the demo to disk: two slicers and three people."""

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from lib.demo.cast import PASSWORD, PEOPLE, PROJECT
from lib.demo.curation import curation, curation_mappings
from lib.demo.delivery import delivery, delivery_mappings
from lib.people import People
from lib.reporting.definition import Definition
from lib.reporting.definition.file import read_definition
from lib.reporting.engines.resident import prepare
from lib.reporting.warehouse import Mode, Warehouse
from lib.reporting.warehouse.stored import StoredSlicer

ROWS = 1_000_000
SEED = 1815
SOURCE = "tranche demo"
Progress = Callable[[float, str], None]
Generate = Callable[[np.random.Generator, dt.date, int], pa.Table]


@dataclass(frozen=True)
class Act:
    """One slicer of the demo: how its rows and mappings are made, and its share of all rows."""

    name: str
    generate: Generate
    mappings: Callable[[], Mapping[str, Mapping[str, str]]]
    share: float

    @property
    def definition(self) -> Definition:
        """The definition that ships beside this file."""
        return read_definition(Path(__file__).with_name(f"{self.name}.yaml"))


ACTS = (
    Act("delivery", delivery, delivery_mappings, 0.7),
    Act("curation", curation, curation_mappings, 0.3),
)


def build(
    warehouse: Warehouse,
    people: People,
    today: dt.date,
    rows: int = ROWS,
    progress: Progress | None = None,
    seed: int = SEED,
) -> tuple[StoredSlicer, ...]:
    """Add missing people of the demo, and rebuild both slicers.

    The same `today`, `rows` and `seed` give the same rows. `progress` is told the share done, 0 to 1, and
    what is being done. A slicer is replaced whole or not at all; ImportRefused while an import writes to it.
    """
    tell, done, made = progress or (lambda share, doing: None), 0.0, []
    tell(0.0, "adding the demo people")
    for person in PEOPLE:
        if people.get(person.username) is None:
            people.add(person, PASSWORD)
    for act in ACTS:
        part = _part(tell, done, act.share)
        made.append(_stage(warehouse, act, today, round(rows * act.share), seed, part))
        done += act.share
    tell(1.0, "done")
    return tuple(made)


def present(warehouse: Warehouse) -> tuple[StoredSlicer, ...]:
    """The demo's slicers that exist, whoever wrote their rows."""
    found = set(warehouse.slicers())
    return tuple(warehouse.open(PROJECT, act.name) for act in ACTS if (PROJECT, act.name) in found)


def is_invented(stored: StoredSlicer) -> bool:
    """Whether all rows of the slicer are from `build`."""
    return all(source.name == SOURCE for made in stored.imports for source in made.sources)


def _stage(
    warehouse: Warehouse, act: Act, today: dt.date, rows: int, seed: int, progress: Progress
) -> StoredSlicer:
    what = f"{PROJECT}/{act.name}"
    progress(0.0, f"{what}: inventing {rows:,} rows")
    table = act.generate(np.random.default_rng([seed, *act.name.encode()]), today, rows)
    progress(0.35, f"{what}: writing")
    mode: Mode = "replace" if warehouse.has(PROJECT, act.name) else "create"
    with warehouse.writer(PROJECT, act.name, act.definition, act.mappings(), mode) as writer:
        writer.write(table)
        writer.commit(SOURCE, _digest(today, rows, seed))
    progress(0.6, f"{what}: building its layout")
    stored = warehouse.open(PROJECT, act.name)
    prepare(stored, lambda share: progress(0.6 + 0.4 * share, f"{what}: building its layout"))
    return stored


def _part(tell: Progress, begin: float, share: float) -> Progress:
    return lambda done, doing: tell(begin + share * done, doing)


def _digest(today: dt.date, rows: int, seed: int) -> str:
    return hashlib.sha256(f"{today} {rows} {seed}".encode()).hexdigest()
