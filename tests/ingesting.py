"""Shared by the tests of imports: read a file, import it, and look at its rows and rejects.

An odd file is written from a table of pandas; what is imported must come to the sums of that table, by day
and by key field.
"""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lib.ingest.files import Format, Reader, Reject
from lib.ingest.importing import ImportJob, import_files, readers
from lib.ingest.inference import Hints, Inference, infer
from lib.ingest.rejects import Rejects
from lib.slicers.definition import TIME, Definition
from lib.slicers.definition.file import definition_yaml, parse_definition
from lib.slicers.warehouse import Mode, Warehouse
from lib.slicers.warehouse.slicer import StoredSlicer


def reader(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
) -> Reader:
    """The reader of a file of one table; see `readers`."""
    return readers(path, format, encoding, delimiter, header, definition)[0]


def definition(**changes: Any) -> Definition:
    """A slicer by hour, with a site, and impressions; `changes` replace or add parts of it."""
    parts = {
        "time": {"column": "time", "granularity": "hour"},
        "key_fields": [{"name": "site"}],
        "data_fields": [{"name": "imps"}],
    }
    return Definition.model_validate(parts | changes)


@dataclass
class Place:
    """A folder with files and a warehouse, of one test."""

    folder: Path

    @property
    def warehouse(self) -> Warehouse:
        """The warehouse, in a folder of its own."""
        return Warehouse(self.folder / "warehouse")

    @property
    def rejects(self) -> Path:
        """Where the rows that can't be read are written."""
        return self.folder / "rejects.csv"

    def file(self, name: str, content: str | bytes, encoding: str = "utf-8") -> Path:
        """A file, gzipped if its name says so."""
        data = content.encode(encoding) if isinstance(content, str) else content
        path = self.folder / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    def take(
        self,
        *paths: Path,
        definition: Definition,
        mode: Mode = "create",
        max_rejects: float = 0.01,
        mappings: dict[str, dict[str, str]] | None = None,
        **recognized: Any,
    ) -> StoredSlicer:
        """The slicer p/s after an import of these files."""
        readers = [reader(path, definition=definition, **recognized) for path in paths]
        job = ImportJob("p", "s", readers, definition, mappings or {}, mode, max_rejects)
        with Rejects(self.rejects) as rejects:
            return import_files(job, job.digests(), self.warehouse, rejects)

    def rows(self, *paths: Path, definition: Definition, **options: Any) -> list[dict[str, Any]]:
        """The rows imported into a new slicer; any number of rows may be rejected."""
        stored = self.take(*paths, definition=definition, max_rejects=1, **options)
        return stored.read(stored.files).to_pylist()


def refused(path: Path, **recognized: Any) -> list[Reject]:
    """The rows of a file that its reader itself refuses."""
    rejects: list[Reject] = []
    for _ in reader(path, **recognized).rows(None, rejects.append):
        pass
    return rejects


def cells(path: Path, **recognized: Any) -> dict[str, list[Any]]:
    """The columns of a file as its reader yields them."""
    columns: dict[str, list[Any]] = {}
    for raw in reader(path, **recognized).rows(None, lambda reject: None):
        for name, values in raw.table.to_pydict().items():
            columns.setdefault(name, []).extend(values)
    return columns


def days(first: str, count: int, step: str = "D") -> pd.Series:
    """So many days from the first, one a row."""
    return pd.Series(pd.date_range(first, periods=count, freq=step))


def report(dates: pd.Series, **columns: Any) -> pd.DataFrame:
    """Rows of a day, a site and impressions, with further columns."""
    numbers = range(1, len(dates) + 1)
    sites = [f"s{number % 5}" for number in numbers]
    return pd.DataFrame({"day": dates, "site": sites, "imps": [float(n) for n in numbers]} | columns)


def csv(
    truth: pd.DataFrame, day: str | Callable[[pd.Timestamp], str] = "%Y-%m-%d", sep: str = ",", **columns: Any
) -> str:
    """A CSV of the table: its days in this format, and `columns` as they are written there."""
    write = (lambda date: date.strftime(day)) if isinstance(day, str) else day
    written = truth.assign(day=[write(date) for date in truth["day"]], **columns)
    return written.to_csv(index=False, sep=sep)


class OddFile(NamedTuple):
    """A file, and the table that it holds; `means` are its columns that are never added up."""

    name: str
    content: str | bytes
    truth: pd.DataFrame
    means: frozenset[str] = frozenset()
    hints: Hints = Hints()


class AskingFile(NamedTuple):
    """A file that can't be read without an answer, and a part of the question."""

    name: str
    content: str | bytes
    question: str
    hints: Hints = Hints()


def imported(
    place: Place, name: str, content: str | bytes, hints: Hints
) -> tuple[Inference, Definition, pd.DataFrame]:
    """What is inferred of a file, the definition that is written, and the rows that are stored with it."""
    path = place.file(name, content)
    files = readers(path)
    inference = infer(files[0], hints=hints, others=files[1:])
    definition = parse_definition(definition_yaml(inference.definition))
    stored = place.take(path, definition=definition, max_rejects=0.5)
    return inference, definition, stored.read(stored.files).to_pandas()


def check(place: Place, file: OddFile) -> Inference:
    """The file's fields are of the right kinds, and its rows those of the table."""
    inference, definition, rows = imported(place, file.name, file.content, file.hints)
    labels = {field.name: field.source for field in (*definition.key_fields, *definition.data_fields)}
    rows = rows.rename(columns=labels)
    rows["day"] = rows.pop(TIME).dt.tz_localize(None)
    texts = [name for name in file.truth if file.truth[name].dtype.kind not in "fiM"]
    numbers = [name for name in file.truth if file.truth[name].dtype.kind in "fi"]
    assert {field.source for field in definition.key_fields} == set(texts)
    sums = {
        field.source for field in definition.data_fields if field.aggregate == "sum" and not field.formula
    }
    assert sums == {name for name in numbers if name not in file.means}
    for keys in (["day"], *(["day", text] for text in texts)):
        expected = file.truth.groupby(keys, dropna=False)[sorted(sums)].sum()
        pd.testing.assert_frame_equal(
            rows.groupby(keys, dropna=False)[sorted(sums)].sum(),
            expected,
            check_dtype=False,
            check_index_type=False,
        )
    return inference
