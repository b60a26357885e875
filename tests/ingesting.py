"""Shared by the tests of imports: read a file, import it, and look at its rows and rejects."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.reporting.definition import Definition
from lib.reporting.ingest.importing import ImportJob, digests, import_files
from lib.reporting.ingest.readers import reader
from lib.reporting.ingest.rejects import Reject, Rejects
from lib.reporting.warehouse import Mode, Warehouse
from lib.reporting.warehouse.slicer import StoredSlicer


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
            return import_files(job, digests(readers), self.warehouse, rejects)

    def rows(self, *paths: Path, definition: Definition, **options: Any) -> list[dict[str, Any]]:
        """The rows imported into a new slicer; any number of rows may be rejected."""
        stored = self.take(*paths, definition=definition, max_rejects=1, **options)
        return stored.read(stored.files).to_pylist()


def refused(path: Path, **recognized: Any) -> list[Reject]:
    """The rows of a file that its reader itself refuses."""
    found: list[Reject] = []
    for _ in reader(path, **recognized).rows(None, found.append):
        pass
    return found


def cells(path: Path, **recognized: Any) -> dict[str, list[Any]]:
    """The columns of a file as its reader yields them."""
    columns: dict[str, list[Any]] = {}
    for raw in reader(path, **recognized).rows(None, lambda reject: None):
        for name, values in raw.table.to_pydict().items():
            columns.setdefault(name, []).extend(values)
    return columns
