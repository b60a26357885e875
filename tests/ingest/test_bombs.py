"""Files that are small on disk and made to burst whoever reads them: each is refused in a sentence."""

import gzip
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingesting import reader

from lib.ingest import cells
from lib.ingest.files import Reject
from lib.ingest.inference import infer
from lib.ingest.normalize import Normalizer
from lib.slicers.definition import DataFieldDefinition, Definition, KeyFieldDefinition, TimeColumn
from lib.wire.errors import ImportRefused

ROOT = Path(__file__).parents[2]
MEBIBYTE, WIDE = 1 << 20, 200_000
HEADER, ROW = b"time,imps,name\n", b"2026-01-01T00:00:00,1,"
LIMIT = 3 << 30
IMPORT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from lib.cli import main
main(["import", sys.argv[1], "--project", "p", "--slicer", "s"])
"""


def zipped(path: Path, pieces: Iterable[bytes]) -> Path:
    """A gzip file of these."""
    with gzip.open(path, "wb", 1) as file:
        for piece in pieces:
            file.write(piece)
    return path


@pytest.mark.parametrize(
    ("name", "beginning", "piece", "words"),
    [
        ("cell.csv.gz", HEADER + ROW, b"x", "Line 2 is longer than 16 MiB"),
        ("quotes.csv.gz", HEADER + ROW, b'"', "Line 2 is longer than 16 MiB"),
        ("header.csv.gz", b"time,", b"x", "is longer than 16 MiB"),
        ("line.ndjson.gz", b'{"time": "', b"x", "A line is longer than 16 MiB"),
    ],
)
def test_a_line_without_end(tmp_path: Path, name: str, beginning: bytes, piece: bytes, words: str) -> None:
    """A cell of 300 MiB, of letters or quotes, ends the import in a process that has 3 GiB of addresses."""
    path = zipped(tmp_path / name, [beginning, *[piece * MEBIBYTE] * 300])
    told = {"TRANCHE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format(limit=LIMIT), str(path)],
        cwd=tmp_path, env=told, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def wide_csv(path: Path) -> Path:
    """CSV of many columns."""
    return zipped(path, [b",".join(b"c%d" % number for number in range(WIDE)), b"\n", b"1," * WIDE, b"\n"])


def wide_ndjson(path: Path) -> Path:
    """An object of many names."""
    return zipped(path, [b"{", b",".join(b'"c%d":1' % number for number in range(WIDE)), b"}\n"])


def wide_parquet(path: Path) -> Path:
    """A table of many columns."""
    pq.write_table(pa.table({f"c{number}": [1] for number in range(10_000)}), path)
    return path


@pytest.mark.parametrize(
    ("make", "name"), [(wide_csv, "a.csv.gz"), (wide_ndjson, "a.ndjson.gz"), (wide_parquet, "a.parquet")]
)
def test_columns_without_end(tmp_path: Path, make: Callable[[Path], Path], name: str) -> None:
    """A file with more columns than anybody has is refused with their number, before they are inferred."""
    path = make(tmp_path / name)
    with pytest.raises(ImportRefused, match=r"has [\d,]+ columns, more than the 5,000|longer than"):
        list(reader(path).rows(None, lambda reject: None))


def test_the_number_of_columns(tmp_path: Path) -> None:
    """A CSV file whose header is longer than what is looked at first is refused with the right number."""
    with pytest.raises(ImportRefused, match=r"has 200,000 columns"):
        reader(wide_csv(tmp_path / "a.csv.gz"))


LONG = {"ab" * cells.LONGEST_VALUE: 1, "x" * cells.LONGEST_VALUE: 2, "short": 3}


def long_csv(path: Path) -> None:
    """A row with a value that is too long, one with the longest, and another, in text."""
    rows = [f"2026-11-01,{name},{imps}" for name, imps in LONG.items()]
    path.write_text("\n".join(["time,name,imps", *rows]) + "\n")


def long_ndjson(path: Path) -> None:
    """The same as objects."""
    rows = [f'{{"time": "2026-11-01", "name": "{name}", "imps": {imps}}}' for name, imps in LONG.items()]
    path.write_text("\n".join(rows))


def long_parquet(path: Path) -> None:
    """The same as a table, with lists of names."""
    days, lists = ["2026-11-01"] * len(LONG), [["a", name] for name in LONG]
    pq.write_table(pa.table({"time": days, "name": lists, "imps": [*LONG.values()]}), path)


@pytest.mark.parametrize(
    ("make", "name", "segmented"),
    [(long_csv, "a.csv", False), (long_ndjson, "a.ndjson", False), (long_parquet, "a.parquet", True)],
)
def test_values_without_end(tmp_path: Path, make: Callable[[Path], None], name: str, segmented: bool) -> None:
    """A row with a value of more than 8 KiB is refused with its reason; the others are read, to the byte."""
    make(tmp_path / name)
    definition = Definition(
        time=TimeColumn(column="time", granularity="day"),
        key_fields=(KeyFieldDefinition(name="name", segmented=segmented),),
        data_fields=(DataFieldDefinition(name="imps"),),
    )
    refused: list[Reject] = []
    rows = [
        row
        for raw in reader(tmp_path / name).rows(None, refused.append)
        for row in Normalizer(definition).rows(raw, refused.append)[0].to_pylist()
    ]
    imps_by_name = {row["name"][-1] if segmented else row["name"]: row["imps"] for row in rows}
    assert imps_by_name == {name: imps for name, imps in LONG.items() if imps > 1}
    assert [reject.reason for reject in refused] == ["longer than 8,192 bytes in column 'name'"]


def test_long_values_say_nothing_of_their_column(tmp_path: Path) -> None:
    """A column is inferred from the values that can be imported."""
    long_csv(tmp_path / "a.csv")
    definition = infer(reader(tmp_path / "a.csv")).definition
    assert [field.name for field in definition.key_fields] == ["name"]


def test_a_workbook_of_several_large_parts(tmp_path: Path) -> None:
    """An archive whose parts together unpack to more than a workbook may have is refused unread."""
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(3):
            with archive.open(f"xl/worksheets/sheet{number}.xml", "w") as part:
                for _ in range(400):
                    part.write(b" " * MEBIBYTE)
    with pytest.raises(ImportRefused, match="unpacks to 1,200 MiB"):
        reader(path)


def test_a_packed_workbook_without_end(tmp_path: Path) -> None:
    """A workbook that unpacks to more than fits is refused before all of it is in memory."""
    first = b"[Content_Types].xml"
    head = b"PK\x03\x04" + bytes(22) + len(first).to_bytes(2, "little") + bytes(2) + first
    path = zipped(tmp_path / "a.xlsx.gz", [head, *[bytes(MEBIBYTE)] * 1100])
    with pytest.raises(ImportRefused, match="unpacks to more than 1,024 MiB"):
        reader(path)
