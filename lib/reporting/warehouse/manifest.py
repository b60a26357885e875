"""The manifest of a slicer: the file that lists its valid files.

A change of a slicer is a new manifest, put in place of the old one by a rename: readers see the old
slicer or the new one, never something between. Its last line has the SHA-256 digest of the others, so that a
changed formula or time zone is not taken for the one that was imported.
"""

import datetime as dt
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, field_validator

from lib.reporting.definition import Definition
from lib.wire.errors import Damaged

MANIFEST = "manifest.json"
_DIGEST = re.compile(rb',\n "sha256": "([0-9a-f]{64})"(?=\n?}\Z)')


class Source(NamedTuple):
    """A file that was imported: its name, the SHA-256 digest of its bytes, the rows that came from it."""

    name: str
    digest: str
    rows: int


class StoredPart(NamedTuple):
    """A Parquet file of rows: its name in the day's folder, the import that wrote it, its rows, its SHA-256.

    Files of before have no digest.
    """

    file: str
    import_id: str
    rows: int
    digest: str = ""


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Import(_FrozenModel):
    """One import, of one or several files, that the slicer still holds rows of."""

    id: str
    when: dt.datetime
    sources: tuple[Source, ...]

    @property
    def rows(self) -> int:
        """The rows that the import brought."""
        return sum(source.rows for source in self.sources)


class Manifest(_FrozenModel):
    """The contents of a slicer: definition, mappings (name → file), imports, and rows by day."""

    format: Literal[1] = 1
    definition: Definition
    mappings: dict[str, str] = {}
    imports: tuple[Import, ...] = ()
    days: dict[dt.date, tuple[StoredPart, ...]] = {}

    @field_validator("definition", mode="before")
    @classmethod
    def _keeps_its_reading(cls, definition: Any) -> Any:
        """A slicer of before there were words for missing values goes on without them."""
        return {"missing": []} | definition if isinstance(definition, dict) else definition

    @property
    def version(self) -> str:
        """Changes with every change of definition, mappings or rows."""
        parts = self.model_dump(mode="json", exclude={"imports"})
        if self.definition.source is None:
            del parts["definition"]["source"]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def files(self) -> set[str]:
        """Every file that counts, as paths relative to the slicer's folder."""
        rows = {f"{day_folder(day)}/{part.file}" for day, parts in self.days.items() for part in parts}
        return rows | set(self.mappings.values())

    def without_empty_imports(self) -> "Manifest":
        """The same, but for imports none of whose rows are left."""
        living = {part.import_id for parts in self.days.values() for part in parts}
        return self.model_copy(update={"imports": tuple(i for i in self.imports if i.id in living)})


def digest_of(path: Path) -> str:
    """The SHA-256 digest of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def day_folder(day: dt.date) -> str:
    """The folder of a day's rows, named as Parquet tools expect of a partition."""
    return f"rows/day={day.isoformat()}"


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in a slicer's folder; None where there is none, Damaged where it is damaged."""
    try:
        return manifest_of((folder / MANIFEST).read_bytes(), folder)
    except FileNotFoundError:
        return None


def manifest_of(content: bytes, folder: Path) -> Manifest:
    """The manifest that was read from a slicer's folder; Damaged where it is damaged.

    Manifests of before have no digest; one whose digest can't be read has a member too many.
    """
    try:
        return Manifest.model_validate_json(without_digest(content))
    except ValueError as error:
        raise Damaged(
            f"{folder / MANIFEST} is damaged: restore it from a backup, or move {folder} away and import the "
            "files again"
        ) from error


def with_digest(content: bytes) -> bytes:
    """A JSON object with its own digest as one more member."""
    end = -2 if content.endswith(b"\n}") else -1
    digest = hashlib.sha256(content).hexdigest()
    return content[:end] + f',\n "sha256": "{digest}"'.encode() + content[end:]


def without_digest(content: bytes) -> bytes:
    """The object as it was before `with_digest`, or as it is; ValueError where it has another digest."""
    match = _DIGEST.search(content)
    if match is None:
        return content
    content = content[: match.start()] + content[match.end() :]
    if hashlib.sha256(content).hexdigest().encode() != match[1]:
        raise ValueError("its bytes are not those that were written")
    return content


def replace_manifest(folder: Path, manifest: Manifest) -> None:
    """Put `manifest` in place: on disk before it counts, then by one rename."""
    fresh = folder / f"{MANIFEST}.new"
    with fresh.open("wb") as file:
        file.write(with_digest(manifest.model_dump_json(indent=1).encode()))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Make names that were added to a folder survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
