"""Folders of Parquet: which files are data, and the one type of a column that files have in several.

DuckDB by itself takes the types of the first file for those of all: 2.75 is 3 where it has whole numbers.
"""

import glob
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import ibis
import ibis.expr.operations as ops
import ibis.expr.types as ir
import sqlglot.expressions as sge
from ibis.backends.sql.datatypes import DuckDBType
from ibis.common.exceptions import TableNotFound

from lib.engines.connected.snapshots import NO_VALUE, Snapshot, current
from lib.wire.errors import BadRequest, Misconfigured

Columns = tuple[tuple[str, str], ...]  # names and DuckDB's types
READERS, FILES_AT_ONCE = 8, 250
VERSIONED = {"_delta_log": "Delta", ".hoodie": "Hudi", "metadata": "Iceberg"}
_FOOTERS = """
SELECT columns, list(file_name) FROM (
  SELECT file_name, list([name, duckdb_type, num_children::VARCHAR] ORDER BY column_id) AS columns
  FROM parquet_schema(?) GROUP BY file_name
) GROUP BY columns
"""
_NO_TYPE, _TEXT = '"NULL"', "VARCHAR"
_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "HUGEINT",
)
_FLOATS = ("FLOAT", "DOUBLE")
_CLOCKS = ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS")
_INSTANT = "TIMESTAMP WITH TIME ZONE"
_ALIASES = {
    "TIMESTAMPTZ_NS": _INSTANT,
    "TIMESTAMPTZ": _INSTANT,
    _NO_TYPE: _TEXT,
}  # Ibis knows no TIMESTAMPTZ_NS


@dataclass(frozen=True)
class ParquetLayout:
    """How the files of a table are read.

    `groups` are files with the same columns, whatever their order, `columns` what the table has, and
    `partitions` those that the names of folders tell, as Hive has them. `snapshot` is the version of a table
    that has such.
    """

    groups: tuple[tuple[Columns, tuple[str, ...]], ...]
    columns: Columns
    partitions: Columns
    snapshot: Snapshot | None = None

    @property
    def files(self) -> list[str]:
        """All files, sorted."""
        return sorted(file for _, files in self.groups for file in files)

    def only(self, files: Sequence[str]) -> "ParquetLayout":
        """The same of some of the files."""
        members = set(files)
        groups = (
            (columns, tuple(file for file in group if file in members)) for columns, group in self.groups
        )
        return replace(self, groups=tuple((columns, group) for columns, group in groups if group))

    def sql(self) -> str:
        """What stands behind FROM.

        DuckDB's `schema` casts file by file and opens none ahead, unlike `union_by_name`, which also makes
        whole numbers beside FLOAT a FLOAT. It can't be had together with folders that tell columns.
        """
        own = dict(self.columns)
        if not self.groups:
            cells = [
                f"CAST(NULL AS {kind}) AS {_name(name)}" for name, kind in self.columns + self.partitions
            ]
            return f"(SELECT {', '.join(cells)}, '' AS filename LIMIT 0)"
        hive = "hive_partitioning = false"
        if self.partitions:
            types = ", ".join(f"{_name(name)}: {_text(kind)}" for name, kind in self.partitions)
            hive = f"hive_partitioning = true, hive_types = {{{types}}}"
        if all(columns == self.columns for columns, _ in self.groups):
            return f"read_parquet({_list(self.files)}, {hive})"
        if not self.partitions:
            kinds = (
                f"{{name: {_text(name)}, type: {_text(kind)}, default_value: NULL}}"
                for name, kind in own.items()
            )
            ids = dict(self.snapshot.ids) if self.snapshot else {}
            keys = str([ids[name] for name in own]) if ids else _texts(own)
            return f"read_parquet({_list(self.files)}, schema = MAP({keys}, [{', '.join(kinds)}]))"
        return f"({' UNION ALL '.join(self._select(group, files, hive) for group, files in self.groups)})"

    def _select(self, group: Columns, files: Sequence[str], hive: str) -> str:
        present = {name.lower() for name, _ in group}
        cells = [
            f"CAST({_name(name) if name.lower() in present else 'NULL'} AS {kind}) AS {_name(name)}"
            for name, kind in self.columns
        ]
        cells += [_name(name) for name, _ in self.partitions]
        cells += ["filename"] if "filename" not in dict(self.columns) else []
        return f"SELECT {', '.join(cells)} FROM read_parquet({_list(files)}, {hive})"  # noqa: S608


class ParquetFiles(ops.UnboundTable):  # type: ignore[misc]
    """A table of Ibis over Parquet files; `left_out` are the columns that can't be read, and why."""

    layout: Any
    left_out: Any


class Footers:
    """The columns of Parquet files, read once per file and change."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, tuple[str | None, Columns]]] = {}
        self._snapshots: dict[str, Snapshot | None] = {}

    def table(self, connection: Any, folder: Path, name: str) -> ir.Table:
        """The table of the files `name.parquet`, or below the folder `name`, in its current version.

        TableNotFound. BadRequest for what can't be read here, Misconfigured for a damaged file.
        """
        key = f"{folder}/{name}"
        snapshot = self._snapshots[key] = current(folder / name, self._snapshots.get(key))
        if snapshot is not None and snapshot.ids:
            return _table_of(key, snapshot, {(): list(snapshot.files)} if snapshot.files else {})
        files = list(data_files(folder, name) if snapshot is None else snapshot.files)
        marks = {file: file_mark(file) for file in files}
        before = self._tables.get(key, {})
        columns = {
            file: before[file] for file, mark in marks.items() if file in before and before[file][0] == mark
        }
        for group, members in _read(connection, [file for file in files if file not in columns]):
            columns |= {file: (marks[file], group) for file in members}
        self._tables[key] = columns
        groups: dict[Columns, list[str]] = defaultdict(list)
        for file in files:
            groups[columns[file][1]].append(file)
        return _table(key, groups) if snapshot is None else _table_of(key, snapshot, groups)


def data_files(folder: Path, name: str) -> Iterator[str]:
    """The files of a table, sorted. What begins with _ or . is no data, but for folders such as _day=1."""
    file, top = folder / f"{name}.parquet", folder / name
    _refuse_versions(folder, name, [child.name for child in folder.iterdir()])
    if file.is_file():
        yield str(file)
        return
    if not top.is_dir():
        raise TableNotFound(name)
    count = 0
    for parent, folders, files in os.walk(top, onerror=_fail):
        _refuse_versions(Path(parent), name, folders)
        folders[:] = sorted(child for child in folders if _is_data(child))
        for child in sorted(files):
            if child.endswith(".parquet") and _is_data(child):
                count += 1
                yield f"{parent}/{child}"
    if not count:
        raise BadRequest(f"The folder {top} has no Parquet file: their names end with .parquet")


def _fail(error: OSError) -> None:
    raise error


def _is_data(name: str) -> bool:
    return not name.startswith(".") and (not name.startswith("_") or "=" in name)


def _refuse_versions(folder: Path, name: str, children: Sequence[str]) -> None:
    for child in VERSIONED.keys() & set(children):
        if child != "metadata" or any((folder / child).glob("*.metadata.json")):
            way = "Write its current rows to another folder"
            if child != ".hoodie":
                way = "Name this table alone, and in the connection the folder that holds it"
            raise BadRequest(
                f"{name} has a table of {VERSIONED[child]} ({folder / child}): its files hold earlier "
                f"versions of rows as well, and would be added up. {way}"
            )


def file_mark(file: str) -> str | None:
    """Size and time of a file; none of one that is gone."""
    try:
        state = Path(file).stat()
    except OSError:
        return None
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ino}"


def _read(connection: Any, files: Sequence[str]) -> Iterator[tuple[Columns, list[str]]]:
    """Columns, and the files that have them, for all files."""
    names = {glob.escape(file): file for file in files}
    parts = [list(names)[start : start + FILES_AT_ONCE] for start in range(0, len(names), FILES_AT_ONCE)]
    with ThreadPoolExecutor(READERS) as pool:
        for rows in pool.map(lambda part: _footers(connection.cursor(), part), parts):
            for nodes, members in rows:
                # The columns of a file, by name, from its tree of columns and their parts.
                columns, below = {}, 0
                for name, kind, children in nodes[1:]:
                    if not below:
                        columns[name] = kind
                    below += int(children or 0) - (1 if below else 0)
                yield tuple(sorted(columns.items())), [names.get(file, file) for file in members]


def _footers(cursor: Any, files: list[str]) -> Any:
    try:
        return cursor.execute(_FOOTERS, [files]).fetchall()
    except duckdb.Error:
        for file in files:
            try:
                cursor.execute(_FOOTERS, [[file]])
            except duckdb.Error:
                raise Misconfigured(
                    f"{file} can't be read as Parquet: it is damaged, still being written, or not this "
                    "user's to read"
                ) from None
        raise


def _table(table: str, groups: Mapping[Columns, list[str]]) -> ir.Table:
    """The table of files with these columns."""
    partitions = _partitions([file for files in groups.values() for file in files])
    kinds: dict[str, dict[str, str]] = defaultdict(dict)  # column → type → the first file with it
    names: dict[str, str] = {}
    left_out: dict[str, str] = {}
    folders = {name.lower() for name, _ in partitions}
    for group, files in groups.items():
        own: dict[str, str] = {}
        for name, kind in group:
            key = name.lower()
            if own.setdefault(key, name) != name:
                left_out[name] = f"its name differs from '{own[key]}' in the size of letters alone"
            elif key not in folders:
                kinds[names.setdefault(key, name)].setdefault(kind, files[0])
    column_types = {}
    for name, types in kinds.items():
        if common := join(types):
            column_types[name] = common
        else:
            # Two types that can't be joined, and a file of each.
            (first, one), (second, other) = next(
                (first, second)
                for position, first in enumerate(types.items())
                for second in list(types.items())[position + 1 :]
                if join([first[0], second[0]]) is None
            )
            left_out[name] = (
                f"it is {first} in {os.path.relpath(one, table)} and {second} in "
                f"{os.path.relpath(other, table)}"
            )
    return _expression(table, groups, column_types, partitions, left_out)


def _table_of(table: str, snapshot: Snapshot, groups: Mapping[Columns, list[str]]) -> ir.Table:
    """The table of a snapshot, whose types are those of its log, and whose files have these columns."""
    left_out: dict[str, str] = {}
    names: dict[str, str] = {}
    for name, kind in snapshot.kinds:
        if names.setdefault(name.lower(), name) != name:
            left_out[name] = f"its name differs from '{names[name.lower()]}' in the size of letters alone"
        elif kind.startswith(("STRUCT", "MAP")):
            left_out[name] = f"{kind} is no text, number, time or list of these"
    kinds = {name: _ALIASES.get(kind, kind) for name, kind in snapshot.kinds if name not in left_out}
    partitions = tuple((name, kinds.pop(name)) for name in snapshot.partitions)
    return _expression(table, groups, kinds, partitions, left_out, snapshot)


def _expression(
    table: str,
    groups: Mapping[Columns, list[str]],
    kinds: Mapping[str, str],
    partitions: Columns,
    left_out: Mapping[str, str],
    snapshot: Snapshot | None = None,
) -> ir.Table:
    layout = ParquetLayout(
        tuple((group, tuple(members)) for group, members in groups.items()),
        tuple(sorted(kinds.items())),
        partitions,
        snapshot,
    )
    schema = {column: DuckDBType.from_string(kind) for column, kind in (*layout.columns, *partitions)}
    return ParquetFiles(
        name=table, schema=ibis.schema(schema), layout=layout, left_out=tuple(left_out.items())
    ).to_expr()


def snapshot_of(table: ir.Table) -> Snapshot | None:
    """The version that a table of files with versions is read in."""
    return table.op().layout.snapshot if isinstance(table.op(), ParquetFiles) else None


def part(table: ir.Table, files: Sequence[str], filename: str) -> ir.Table:
    """Some files of a table, with their paths as a further column, which DuckDB has in any case."""
    node = table.op()
    schema = ibis.schema({**dict(table.schema().items()), filename: "string"})
    return ParquetFiles(name=node.name, schema=schema, layout=node.layout.only(files), left_out=()).to_expr()


def join(kinds: Sequence[str] | Mapping[str, str]) -> str | None:
    """The narrowest of DuckDB's types that holds all of some; None where there is none.

    Text wins over numbers, true and false, and UUIDs; a clock and an instant can't be joined.
    """
    types = {_ALIASES.get(kind, kind) for kind in kinds if kind != _NO_TYPE} or {_TEXT}
    if len(types) == 1:
        return types.pop()
    if all(kind.endswith("[]") for kind in types):
        inner = join([kind.removesuffix("[]") for kind in types])
        return inner and f"{inner}[]"
    if types <= set(_CLOCKS):
        return max(types, key=_CLOCKS.index)
    numbers = {kind for kind in types if kind in (*_NUMBERS, *_FLOATS) or kind.startswith("DECIMAL")}
    if _TEXT in types:
        return _TEXT if types - numbers <= {_TEXT, "BOOLEAN", "UUID"} else None
    return _widest(numbers) if numbers == types else None


def _widest(numbers: set[str]) -> str:
    """The type of numbers that holds all digits of all, or DOUBLE."""
    if numbers & set(_FLOATS):
        return "DOUBLE"
    sizes = [DuckDBType.from_string(kind) for kind in numbers]
    if all(kind.is_integer() for kind in sizes):
        naturals = [kind for kind in sizes if kind.is_unsigned_integer()]
        if any(kind.nbytes == 8 for kind in naturals) and len(naturals) < len(sizes):
            return "HUGEINT"
        return "BIGINT" if len(naturals) < len(sizes) else max(numbers, key=_NUMBERS.index)
    scale = max(kind.scale for kind in sizes if kind.is_decimal())
    whole = max(kind.precision - kind.scale if kind.is_decimal() else 20 for kind in sizes)
    return f"DECIMAL({whole + scale},{scale})" if whole + scale <= 38 else "DOUBLE"


def _partitions(files: Sequence[str]) -> Columns:
    """The columns in folders named column=value, if all files have the same; numbers as 02134 stay text."""
    values: dict[str, set[str]] = defaultdict(set)
    keys = None
    for folder in {file.rpartition("/")[0] for file in files}:
        pairs = [part.split("=", 1) for part in folder.split("/") if "=" in part]
        if keys not in (None, [key for key, _ in pairs]):
            return ()
        keys = [key for key, _ in pairs]
        for key, value in pairs:
            values[unquote(key)].add(unquote(value))
    return tuple((key, _partition_type(texts - {NO_VALUE})) for key, texts in values.items())


def _partition_type(texts: set[str]) -> str:
    spellings: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("DATE", lambda text: date.fromisoformat(text).isoformat()),
        ("BIGINT", lambda text: str(int(text))),
        ("TIMESTAMP", lambda text: datetime.fromisoformat(text).isoformat(text[10:11] or "T")),
    )
    for kind, spell in spellings:
        with suppress(ValueError):
            if texts and all(spell(text) == text for text in texts):
                return kind
    return _TEXT


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Sequence[str] | Mapping[str, str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


def _list(files: Sequence[str]) -> str:
    return _texts([glob.escape(file) for file in files])


def _name(name: str) -> str:
    return str(sge.to_identifier(name, quoted=True).sql("duckdb"))
