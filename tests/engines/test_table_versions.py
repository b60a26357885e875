"""Tables of Delta and Iceberg: a question counts the rows that the writer's own library reads."""

import datetime as dt
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform, Transform
from pyiceberg.types import DateType, DoubleType

from engines.test_connected import Desk
from lib.engines.connected import Connections, LiveSlicers
from lib.slicers.definition import Definition, RowSource
from lib.slicers.granularities import time_key_field
from lib.wire.errors import BadRequest, Misconfigured

DAY = time_key_field("day")
SOURCE = RowSource(connection="rows", table="sales")
DEFINITION = {
    "time": {"column": "day"},
    "key_fields": [{"name": "country"}],
    "data_fields": [{"name": "bids"}, {"name": "records", "aggregate": "count"}],
}
ROWS = {
    "day": [dt.date(2026, 1, 1), dt.date(2026, 1, 1), dt.date(2026, 1, 2), dt.date(2026, 2, 3)],
    "country": ["DE", "a b/ü%'", "DE", None],
    "bids": [1.0, 2.0, 4.0, 8.0],
}


class VersionedDesk(Desk):
    """A desk over the table `sales`, whose log is looked at again whenever `later` is called."""

    def __init__(self, home: Path, url: str, **definition: Any) -> None:
        super().__init__(home, url, definition=Definition.model_validate(DEFINITION | definition))
        self._now = 0.0
        connections = Connections(self.settings.connection_urls)
        self.connected.live = LiveSlicers(connections, lambda: self._now, patience=60)

    def later(self) -> "VersionedDesk":
        """The desk, a while later."""
        self._now += 3600
        return self

    def figures(self, field: str = "bids", key: str = "country") -> dict[tuple[str, str], float]:
        """A data field by key field and day, as the API answers."""
        answer = self.ask(split_by=[key, DAY], end_date="2026-12-31", data_fields=[field])
        keys = zip(answer.names[key], answer.names[DAY], strict=True)
        return dict(zip(keys, answer.values[field], strict=True))


def expected(rows: pa.Table, field: str = "bids", key: str = "country") -> dict[tuple[str, str], float]:
    """The same of the rows that a library read."""
    totals: dict[tuple[str, str], float] = {}
    for row in rows.to_pylist():
        label = "" if row[key] is None else str(row[key])
        group = (label, row["day"].isoformat()[:10])
        totals[group] = totals.get(group, 0) + (row[field] or 0)
    return totals


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The folder of a connection."""
    (tmp_path / "lake").mkdir()
    return tmp_path / "lake"


def delta_desk(lake: Path, scheme: str = "parquet", **definition: Any) -> VersionedDesk:
    """A desk over a folder with tables of Delta."""
    return VersionedDesk(lake.parent / "home", f"{scheme}://{lake}", **definition)


def merge(path: str) -> None:
    """Change a row, and add one."""
    source = pa.table(
        {"day": [dt.date(2026, 1, 2), dt.date(2026, 1, 5)], "country": ["DE", "FR"], "bids": [40.0, 16.0]}
    )
    merger = DeltaTable(path).merge(source, "s.day = t.day AND s.country = t.country", "s", "t")
    merger.when_matched_update_all().when_not_matched_insert_all().execute()


def evolve(path: str) -> None:
    """Add rows with a column that earlier files lack, and without one that they have."""
    rows = pa.table({"day": [dt.date(2026, 1, 1)], "bids": [32.0], "wins": [3]})
    write_deltalake(path, rows, mode="append", schema_mode="merge")


DELTA_STEPS: Mapping[str, Callable[[str], object]] = {
    "append": lambda path: write_deltalake(path, pa.table(ROWS), mode="append"),
    "overwrite": lambda path: write_deltalake(path, pa.table(ROWS).slice(1), mode="overwrite"),
    "delete": lambda path: DeltaTable(path).delete("country = 'DE' AND bids < 3"),
    "update": lambda path: DeltaTable(path).update(updates={"bids": "bids + 1"}, predicate="country = 'DE'"),
    "merge": merge,
    "checkpoint": lambda path: DeltaTable(path).create_checkpoint(),
    "compact": lambda path: DeltaTable(path).optimize.compact(),
    "vacuum": lambda path: DeltaTable(path).vacuum(0, dry_run=False, enforce_retention_duration=False),
    "evolve": evolve,
    "restore": lambda path: DeltaTable(path).restore(DeltaTable(path).version() - 1),
    "delete everything": lambda path: DeltaTable(path).delete(),
    "append again": lambda path: write_deltalake(path, pa.table(ROWS), mode="append", schema_mode="merge"),
}


@pytest.mark.parametrize("partition_by", [[], ["country"], ["day"], ["country", "day"]], ids="-".join)
def test_the_current_rows_of_delta_count(lake: Path, partition_by: list[str]) -> None:
    """After each kind of write a question counts what deltalake reads, partition values included."""
    path = str(lake / "sales")
    write_deltalake(path, pa.table(ROWS), partition_by=partition_by)
    desk = delta_desk(lake)
    assert desk.figures() == expected(DeltaTable(path).to_pyarrow_table()) != {}
    for name, step in DELTA_STEPS.items():
        step(path)
        assert desk.later().figures() == expected(DeltaTable(path).to_pyarrow_table()), name
        assert sum(desk.figures("records").values()) == DeltaTable(path).to_pyarrow_table().num_rows, name


def test_partitions_of_any_type(lake: Path) -> None:
    """Numbers, times, true and false that only folders tell are key fields like others, missing ones too."""
    moment = dt.datetime(2026, 1, 1, 2, 3, 4, 5000)  # noqa: DTZ001
    columns = {
        "n": [1, None],
        "local": [moment, None],
        "instant": [moment.replace(tzinfo=dt.UTC), None],
        "flag": [True, None],
        "text": ["02134", ""],
    }
    rows = pa.table({"day": [dt.date(2026, 1, 1)] * 2, "bids": [1.0, 2.0]} | columns)
    write_deltalake(lake / "sales", rows, partition_by=[*columns])
    desk = delta_desk(lake, key_fields=[{"name": name} for name in columns])
    for name, text in {
        "n": "1",
        "local": "2026-01-01 02:03:04.005",
        "instant": "2026-01-01 02:03:04.005+00",
        "flag": "true",
        "text": "02134",
    }.items():
        assert desk.figures(key=name) == {(text, "2026-01-01"): 1, ("", "2026-01-01"): 2}
        wanted = {"name": name, "match": "equals", "value": [text]}
        assert desk.ask(filters=[wanted]).total.values["bids"] == 1


def add_commit(path: Path, *actions: Mapping[str, Any]) -> None:
    """Another version of a table, written by hand as the protocol of Delta has it."""
    log = path / "_delta_log" / f"{DeltaTable(path).version() + 1:020}.json"
    log.write_text("\n".join(json.dumps(action) for action in actions))


def protocol(*features: str) -> Mapping[str, Any]:
    """The action that says which features readers need."""
    versions = {"minReaderVersion": 3, "minWriterVersion": 7}
    return {"protocol": versions | {"readerFeatures": features, "writerFeatures": features}}


def test_deletion_vectors_are_refused_where_there_are_any(lake: Path) -> None:
    """A table is read until a file has a deletion vector, and then refused by that name."""
    path = lake / "sales"
    rows = pa.concat_tables([pa.table(ROWS)] * 10)
    write_deltalake(path, rows)
    desk = delta_desk(lake)
    add_commit(path, protocol("deletionVectors"))
    assert desk.figures() == expected(rows)
    lines = (path / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    file = next(action["add"] for action in map(json.loads, lines) if "add" in action)
    # Rows 3, 4, 7, 11, 18 and 29 are deleted: the example of the protocol's document.
    vector = {
        "storageType": "i",
        "pathOrInlineDv": "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
        "sizeInBytes": 44,
        "cardinality": 6,
    }
    gone = {"path": file["path"], "dataChange": True, "deletionTimestamp": 1}
    add_commit(path, {"remove": gone}, {"add": file | {"deletionVector": vector}})
    with pytest.raises(Misconfigured, match="sales is a table of Delta with deletion vectors, which can't"):
        desk.later().figures()


def test_column_mapping_is_refused(lake: Path) -> None:
    """Columns whose files have other names for them are refused by the name of that feature."""
    path = lake / "sales"
    write_deltalake(path, pa.table(ROWS), configuration={"delta.columnMapping.mode": "none"})
    lines = (path / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    metadata = next(action for action in map(json.loads, lines) if "metaData" in action)
    schema = json.loads(metadata["metaData"]["schemaString"])
    for number, field in enumerate(schema["fields"]):
        names = {"delta.columnMapping.id": number + 1, "delta.columnMapping.physicalName": field["name"]}
        field["metadata"] = names
    metadata["metaData"]["schemaString"] = json.dumps(schema)
    settings = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}
    metadata["metaData"]["configuration"] = settings
    add_commit(path, protocol("columnMapping"), metadata)
    with pytest.raises(BadRequest, match="with column mapping, which can't be read here"):
        Connections({"rows": f"parquet://{lake}"}).table("rows", "sales")


@pytest.mark.parametrize(("title", "library"), [("Delta", "deltalake"), ("Iceberg", "pyiceberg.table")])
def test_what_is_missing_to_read_it(
    lake: Path, monkeypatch: pytest.MonkeyPatch, title: str, library: str
) -> None:
    """Without the library that reads its log, a table is refused with what to install."""
    if title == "Delta":
        write_deltalake(lake / "sales", pa.table(ROWS))
    else:
        iceberg(lake)
    monkeypatch.setitem(sys.modules, library, None)
    package = library.partition(".")[0]
    with pytest.raises(
        Misconfigured, match=f"A table of {title} needs a package more: .* install {package} "
    ):
        delta_desk(lake).figures()


def test_a_connection_of_delta_has_tables_of_delta(lake: Path) -> None:
    """delta:// reads tables of Delta, and refuses a plain folder, whose files may be of several versions."""
    write_deltalake(lake / "sales", pa.table(ROWS))
    assert delta_desk(lake, "delta").figures() == expected(pa.table(ROWS))
    (lake / "sales" / "_delta_log").rename(lake / "log")
    connections = Connections({"rows": f"delta://{lake}"})
    with pytest.raises(BadRequest, match="sales is no table of Delta"):
        connections.table("rows", "sales")


def test_a_snapshot_is_as_old_as_its_commit(lake: Path) -> None:
    """Slicers are as old as the last commit of their table, and say that it is of Delta."""
    write_deltalake(lake / "sales", pa.table(ROWS))
    add_commit(lake / "sales", {"commitInfo": {"timestamp": 1767323045000, "operation": "WRITE"}})
    desk = delta_desk(lake)
    info = desk.service.warehouse.open("p", "sales").info()
    assert (info.engine, info.as_of) == ("Delta, live", "2026-01-02T03:04:05+00:00")


def test_tables_below_tables_are_refused(lake: Path) -> None:
    """A folder with a table of Delta inside is no table: its versions would be added up."""
    write_deltalake(lake / "sales" / "inside", pa.table(ROWS))
    with pytest.raises(Misconfigured, match=r"sales has a table of Delta .*Name this table alone"):
        delta_desk(lake).figures()


def iceberg(lake: Path, **partitions: Transform[Any, Any]) -> Table:
    """A new table of Iceberg in the folder, with the rows, by a catalog in SQLite beside it."""
    catalog = SqlCatalog("tests", uri=f"sqlite:///{lake.parent}/catalog.db", warehouse=f"file://{lake}")
    catalog.create_namespace("p")
    table = catalog.create_table("p.sales", pa.table(ROWS).schema, f"file://{lake}/sales")
    with table.update_spec() as change:
        for name, transform in partitions.items():
            change.add_field(name, transform, f"{name}_part")
    table.append(pa.table(ROWS))
    return table


def rename_and_add(table: Table) -> None:
    """Give a column another name, and its name to a new column."""
    with table.update_schema() as change:
        change.rename_column("bids", "wins")
    with table.update_schema() as change:
        change.add_column("bids", DoubleType())
    table.append(pa.table(ROWS | {"wins": [0.5] * 4}).select(["day", "country", "wins", "bids"]))


ICEBERG_STEPS: Mapping[str, Callable[[Table], object]] = {
    "append": lambda table: table.append(pa.table(ROWS)),
    "overwrite": lambda table: table.overwrite(pa.table(ROWS).slice(1)),
    "overwrite some": lambda table: table.overwrite(pa.table(ROWS).slice(0, 1), "country = 'DE'"),
    "delete": lambda table: table.delete("bids < 2"),
    "upsert": lambda table: table.upsert(pa.table(ROWS).slice(0, 3), ["day", "country"]),
    "rename and add": rename_and_add,
    "delete everything": lambda table: table.delete(),
    "append again": lambda table: table.append(
        pa.table(ROWS | {"wins": [0.5] * 4}).select(["day", "country", "wins", "bids"])
    ),
}


@pytest.mark.parametrize(
    "partitions",
    [{}, {"country": IdentityTransform()}, {"day": IdentityTransform()}],
    ids=["plain", "country", "day"],
)
def test_the_current_rows_of_iceberg_count(lake: Path, partitions: Mapping[str, Transform[Any, Any]]) -> None:
    """After each kind of write a question counts what pyiceberg reads, also once columns were renamed."""
    table = iceberg(lake, **partitions)
    desk = delta_desk(lake)
    assert desk.figures() == expected(table.scan().to_arrow()) != {}
    for name, step in ICEBERG_STEPS.items():
        step(table)
        assert desk.later().figures() == expected(table.scan().to_arrow()), name
        assert sum(desk.figures("records").values()) == table.scan().to_arrow().num_rows, name
    info = desk.service.warehouse.open("p", "sales").info()
    moment = dt.datetime.fromtimestamp(table.current_snapshot().timestamp_ms // 1000, dt.UTC)
    assert (info.engine, info.as_of) == ("Iceberg, live", moment.isoformat())


def test_position_deletes_are_refused(lake: Path) -> None:
    """Rows that another file deletes are refused by that name: DuckDB would count them."""
    table = iceberg(lake)
    deleted = next(iter(table.scan().plan_files())).file
    deletes = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=f"file://{lake}/sales/data/deletes.parquet",
        file_format=FileFormat.PARQUET,
        partition=deleted.partition,
        record_count=1,
        file_size_in_bytes=1,
        lower_bounds={2147483546: deleted.file_path.encode()},
        upper_bounds={2147483546: deleted.file_path.encode()},
    )
    deletes.spec_id = 0
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(deletes)
    with pytest.raises(BadRequest, match="sales is a table of Iceberg with position deletes, which can't"):
        Connections({"rows": f"iceberg://{lake}"}).table("rows", "sales")


def test_files_added_from_outside_are_refused(lake: Path) -> None:
    """Files whose columns have no numbers are refused: their rows would be missing values alone."""
    table = iceberg(lake)
    pq.write_table(pa.table(ROWS), lake / "sales" / "more.parquet")
    table.add_files([f"file://{lake}/sales/more.parquet"])
    with pytest.raises(BadRequest, match="with files without numbers of columns"):
        Connections({"rows": f"parquet://{lake}"}).table("rows", "sales")


def test_a_hint_or_the_highest_version_is_current(lake: Path) -> None:
    """The version of metadata is that of the hint; two highest ones without a hint are refused with both."""
    table = iceberg(lake)
    metadata = lake / "sales" / "metadata"
    first = next(metadata.glob("00000-*.json")).name
    (metadata / "version-hint.text").write_text(first)
    assert delta_desk(lake).figures() == {}
    (metadata / "version-hint.text").unlink()
    newest = max(metadata.glob("*.metadata.json"))
    (metadata / newest.name.replace("-", "-f", 1)).write_text(newest.read_text())
    table.append(pa.table(ROWS))
    assert Connections({"rows": f"parquet://{lake}"}).table("rows", "sales") is not None
    max(metadata.glob("*.metadata.json")).unlink()
    with pytest.raises(BadRequest, match="has two newest versions of metadata"):
        Connections({"rows": f"parquet://{lake}"}).table("rows", "sales")


def test_a_table_that_was_moved_is_refused(lake: Path) -> None:
    """The metadata of Iceberg names files by where they were written: a copy elsewhere would read those."""
    iceberg(lake)
    shutil.copytree(lake / "sales", lake / "copy")
    with pytest.raises(BadRequest, match="copy has files elsewhere"):
        Connections({"rows": f"parquet://{lake}"}).table("rows", "copy")


def test_a_renamed_time_counts_the_days_anew(lake: Path) -> None:
    """Days are counted again once another column has the name of the time, though no file has changed."""
    table = iceberg(lake)
    desk = delta_desk(lake)
    assert desk.figures()
    with table.update_schema() as change:
        change.rename_column("day", "old")
    with table.update_schema() as change:
        change.add_column("day", DateType())
    assert desk.later().figures() == {}
    with table.update_schema() as change:
        change.rename_column("day", "new")
    with table.update_schema() as change:
        change.rename_column("old", "day")
    assert desk.later().figures() == expected(pa.table(ROWS))


TYPES = {
    "whole": pa.array([1, None], pa.int32()),
    "yes": [True, None],
    "money": pa.array([Decimal("1.25"), None], pa.decimal128(18, 2)),
    "local": [dt.datetime(2026, 1, 1, 2), None],  # noqa: DTZ001
    "instant": [dt.datetime(2026, 1, 1, 2, tzinfo=dt.UTC), None],
    "raw": [b"x", None],
    "labels": [["a", "b"], None],
    "place": [{"a": 1}, None],
}


@pytest.mark.parametrize("title", ["Delta", "Iceberg"])
def test_types_of_logs(lake: Path, title: str) -> None:
    """Columns of every type are read by the type in the log; what can be no field is named as left out."""
    rows = pa.table({"day": [dt.date(2026, 1, 1)] * 2, "country": ["a", "b"], "bids": [1.0, 2.0]} | TYPES)
    if title == "Delta":
        write_deltalake(lake / "sales", rows)
    else:
        more = pa.table({"clock": [dt.time(1), None], "id": pa.array([b"1" * 16, None], pa.uuid())})
        rows = pa.table(rows.to_pydict() | {"whole": TYPES["whole"], "money": TYPES["money"]})
        catalog = SqlCatalog("tests", uri=f"sqlite:///{lake.parent}/catalog.db", warehouse=f"file://{lake}")
        catalog.create_namespace("p")
        for name in more.column_names:
            rows = rows.append_column(name, more[name])
        catalog.create_table("p.sales", rows.schema, f"file://{lake}/sales").append(rows)
    keys = [name for name in rows.column_names if name in ("whole", "yes", "local", "instant", "clock", "id")]
    fields = [{"name": name} for name in keys] + [{"name": "labels", "segmented": True}]
    desk = delta_desk(lake, key_fields=fields, data_fields=[{"name": "money"}, {"name": "bids"}])
    for key in (*keys, "labels"):
        assert sum(desk.figures(key=key).values()) == 3 + 1 * (key == "labels")
        assert ("", "2026-01-01") in desk.figures(key=key)
    assert desk.ask().total.values["money"] == 1.25
    sample = desk.connected.live.sample(SOURCE, 10)
    assert sample.left_out.keys() == {"place", "raw"}


def test_the_log_says_what_is_an_instant(lake: Path) -> None:
    """Spark's INT96 has no zone in its files: what the log calls a timestamp is of UTC nevertheless."""
    moment = dt.datetime(2026, 1, 1, 23, 30, tzinfo=dt.UTC)
    rows = pa.table({"at": [moment], "country": ["DE"], "bids": [1.0]})
    write_deltalake(lake / "sales", rows)
    (file,) = DeltaTable(lake / "sales").file_uris()
    local = rows.set_column(0, "at", rows["at"].cast(pa.timestamp("us")))
    pq.write_table(local, file, use_deprecated_int96_timestamps=True)
    desk = delta_desk(lake, time={"column": "at", "granularity": "hour"}, timezone=1)
    assert desk.figures() == {("DE", "2026-01-02"): 1}
    assert str(desk.connected.live.sample(SOURCE, 1).rows["at"].type) == "timestamp[us, tz=UTC]"
