"""Tables with versions: which files of a folder are the current rows, as the log of Delta or Iceberg has it.

Their libraries are optional parts, `tranche[delta]` and `tranche[iceberg]`, and read the log alone. DuckDB
reads the files, so that what only a library can honor (rows deleted in other files) is refused by name.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from ibis.backends.sql.datatypes import DuckDBType
from ibis.formats.pyarrow import PyArrowType

from lib.wire.errors import BadRequest, Misconfigured

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_DELTA_FEATURES = {"deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}  # of readers
_VERSION = re.compile(r"v?(\d+)(-[^/]*)?(\.gz)?\.metadata\.json")


@dataclass(frozen=True)
class Snapshot:
    """The current version of a table: its files, and DuckDB's types of its columns by their names.

    `log` is the log's file that says so, and `at` when it was committed. Columns are found in files by their
    number in `ids` (Iceberg), or by name; `partitions` (Delta) are in the names of folders alone.
    """

    title: str
    log: str
    at: datetime
    files: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...]
    ids: tuple[tuple[str, int], ...] = ()
    partitions: tuple[str, ...] = ()


def current(folder: Path, before: Snapshot | None) -> Snapshot | None:
    """The current version of the table in a folder; `before` itself if it still is, None of a plain folder.

    BadRequest for features that this can't honor, Misconfigured without the library.
    """
    commits = (path for path in (folder / "_delta_log").glob("*") if path.name[:20].isdigit())
    commit = max(commits, key=lambda path: path.name, default=None)
    for read, log in (_delta, commit), (_iceberg, _newest_metadata(folder)):
        if log is not None:
            return before if before is not None and before.log == str(log) else read(folder, log)
    return None


def _newest_metadata(folder: Path) -> Path | None:
    """The file that the hint of a table without catalog names, or the one of the highest version."""
    hint = folder / "metadata" / "version-hint.text"
    names = {path.name: path for path in (folder / "metadata").glob("*.metadata.json")}
    if hint.is_file():
        version = hint.read_text("utf-8").strip()
        for name in (version, f"v{version}.metadata.json", f"{version}.metadata.json"):
            if name in names:
                return names[name]
    versions = {name: int(match[1]) for name in names if (match := _VERSION.fullmatch(name))}
    newest = sorted(name for name in versions if versions[name] == max(versions.values()))
    if len(newest) > 1:
        raise BadRequest(
            f"{folder} has two newest versions of metadata, {' and '.join(newest)}, and only the table's "
            "catalog knows the current one. Move the other one away"
        )
    return names[newest[0]] if newest else None


@contextmanager
def _library(title: str, extra: str) -> Iterator[None]:
    """The block uses a library that may be missing, and may refuse a table in its own words."""
    try:
        yield
    except ImportError:
        raise Misconfigured(
            f"A table of {title} needs a package more: .venv/bin/pip install {extra} "
            f"(tranche[{title.lower()}])"
        ) from None
    except (BadRequest, Misconfigured):
        raise
    except Exception as error:
        cause = str(error).partition("\n")[0]
        raise Misconfigured(f"{extra} can't read the table of {title}: {cause}") from error


def _refuse(title: str, folder: Path, features: Sequence[str]) -> None:
    if features:
        raise BadRequest(
            f"{folder} is a table of {title} with {', '.join(features)}, which can't be read here: the files "
            "alone don't have its rows. Write its current rows to another folder"
        )


def _kinds(schema: pa.Schema) -> Iterator[tuple[str, str]]:
    for field in schema:
        is_uuid = isinstance(field.type, pa.UuidType)
        yield field.name, "UUID" if is_uuid else DuckDBType.to_string(PyArrowType.to_ibis(field.type))


def _delta(folder: Path, log: Path) -> Snapshot:
    with _library("Delta", "deltalake"):
        from deltalake import DeltaTable

        table = DeltaTable(str(folder))
        mode = table.metadata().configuration.get("delta.columnMapping.mode", "none")
        features = {*(table.protocol().reader_features or ())} - _DELTA_FEATURES - {"columnMapping"}
        has_vectors = any(batch.num_rows for batch in map(pa.record_batch, table.deletion_vectors()))
        _refuse(
            "Delta",
            folder,
            [
                *sorted(features),
                *(["column mapping"] if mode != "none" else []),
                *(["deletion vectors"] if has_vectors else []),
            ],
        )
        files, partitions = table.file_uris(), tuple(table.metadata().partition_columns)
        actions = pa.table(table.get_add_actions(flatten=True))
        commit = next(
            iter(table.history(1)), {"timestamp": max(actions["modification_time"].to_pylist(), default=0)}
        )
        schema = pa.schema(table.schema().to_arrow())
    for name in partitions:
        _check_folders(folder, name, files, actions[f"partition.{name}"])
    at = datetime.fromtimestamp(commit["timestamp"] / 1000, UTC)
    return Snapshot("Delta", str(log), at, tuple(sorted(files)), tuple(_kinds(schema)), partitions=partitions)


def _check_folders(folder: Path, name: str, files: Sequence[str], values: pa.ChunkedArray) -> None:
    """Refuse files that are not in folders named by the value of a column that the log has for them."""
    kind = values.type
    pattern = re.compile(rf"/{re.escape(name)}=([^/]*)/")
    texts = [unquote(match[1]) if (match := pattern.search(file)) else None for file in files]
    plain = pa.timestamp("us") if pa.types.is_timestamp(kind) else kind
    in_folders = pa.chunked_array([[None if text in (NO_VALUE, "") else text for text in texts]], pa.string())
    if None in texts or not in_folders.cast(plain).cast(kind).equals(values):
        _refuse("Delta", folder, [f"values of {name} that the names of its folders don't tell"])


def _iceberg(folder: Path, log: Path) -> Snapshot:
    with _library("Iceberg", "pyiceberg"):
        from pyiceberg.io.pyarrow import schema_to_pyarrow
        from pyiceberg.table import StaticTable

        table = StaticTable.from_metadata(str(log))
        fields, tasks = table.schema().fields, list(table.scan().plan_files())
        deletes = {
            str(file.content.name).lower().replace("_", " ") for task in tasks for file in task.delete_files
        }
        formats = {task.file.file_format.name for task in tasks} - {"PARQUET"}
        _refuse(
            "Iceberg",
            folder,
            [
                *sorted(deletes),
                *(f"files of {name}" for name in sorted(formats)),
                *(f"a default of {field.name}" for field in fields if field.initial_default is not None),
                *(["files without numbers of columns"] if table.name_mapping() else []),
            ],
        )
        snapshot = table.current_snapshot()
        milliseconds = table.metadata.last_updated_ms if snapshot is None else snapshot.timestamp_ms
        files = [_local(folder, task.file.file_path) for task in tasks]
        kinds = tuple(_kinds(schema_to_pyarrow(table.schema(), include_field_ids=False)))
    ids = tuple((field.name, field.field_id) for field in fields)
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return Snapshot("Iceberg", str(log), at, tuple(sorted(files)), kinds, ids)


def _local(folder: Path, uri: str) -> str:
    """The path of a file below the folder: a table that was moved names files of where it was."""
    path = uri.removeprefix("file:").replace("//", "/") if uri.startswith("file:") else uri
    if not Path(path).resolve().is_relative_to(folder.resolve()):
        raise BadRequest(
            f"The table of Iceberg in {folder} has files elsewhere, such as {uri}: a table is read where it "
            "was written, on a disk of this machine"
        )
    return path
