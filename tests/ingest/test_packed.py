"""Packed files and JSON arrays: read as the file inside of them is."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from ingesting import reader

from lib.wire.errors import ImportRefused

ROWS = b"day,imps\n2026-01-01,1\n2026-01-02,2\n"


def archive(*files: tuple[str, bytes]) -> bytes:
    """A zip archive of these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files:
            target.writestr(name, content)
    return packed.getvalue()


def rows(path: Path) -> list[dict[str, object]]:
    """All rows of a file."""
    return [row for raw in reader(path).rows(None, lambda reject: None) for row in raw.table.to_pylist()]


def zstd_file(path: Path, data: bytes) -> Path:
    """A file packed by Zstandard."""
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(data)
    return path


@pytest.mark.parametrize("name", ["a.csv.zst", "a.csv", "a.zst"])
def test_zstandard(tmp_path: Path, name: str) -> None:
    """A file packed by Zstandard (RFC 8878) is read, whatever it is called."""
    assert rows(zstd_file(tmp_path / name, ROWS)) == [
        {"day": "2026-01-01", "imps": "1"},
        {"day": "2026-01-02", "imps": "2"},
    ]


@pytest.mark.parametrize("inside", ["report.csv", "2026/report.csv", "report"])
def test_a_zip_archive_of_one_file(tmp_path: Path, inside: str) -> None:
    """The only file of a zip archive is read, beside what macOS puts there."""
    path = tmp_path / "a.zip"
    path.write_bytes(archive((inside, ROWS), ("__MACOSX/._report.csv", b"x")))
    assert [row["imps"] for row in rows(path)] == ["1", "2"]


def test_the_format_is_that_of_the_file_inside(tmp_path: Path) -> None:
    """NDJSON in an archive is read as NDJSON."""
    path = tmp_path / "a.zip"
    path.write_bytes(archive(("a.ndjson", b'{"day": "2026-01-01", "imps": 1}\n')))
    assert rows(path) == [{"day": "2026-01-01", "imps": 1}]


def test_an_archive_of_several_files(tmp_path: Path) -> None:
    """It is refused, as nobody knows which is meant; the sentence has their names."""
    path = tmp_path / "a.zip"
    path.write_bytes(archive(("a.csv", ROWS), ("b.csv", ROWS)))
    with pytest.raises(ImportRefused, match=r"holds 2 files \(a.csv, b.csv\)"):
        reader(path)


@pytest.mark.parametrize("inside", ["b.zip", "b", "report.csv"])
def test_an_archive_in_an_archive(tmp_path: Path, inside: str) -> None:
    """It is refused by its first bytes, before anything is unpacked as the workbook that it might be."""
    path = tmp_path / "a.zip"
    path.write_bytes(archive((inside, archive(("a.csv", ROWS)))))
    with pytest.raises(ImportRefused, match="packed twice, zip in zip; unpack it once"):
        reader(path)


@pytest.mark.parametrize("inside", ["report.xlsx", "report"])
def test_a_workbook_in_an_archive(tmp_path: Path, inside: str) -> None:
    """A workbook, which is an archive itself, is read in another one, whatever it is called."""
    workbook = io.BytesIO()
    pd.DataFrame({"day": ["2026-01-01"], "imps": [1]}).to_excel(workbook, index=False)
    path = tmp_path / "a.zip"
    path.write_bytes(archive((inside, workbook.getvalue())))
    assert [row["imps"] for row in rows(path)] == [1.0]


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: archive(("a.csv", data))])
def test_a_packed_file_that_was_cut_off(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A download that broke off is noticed."""
    path = tmp_path / "a.csv.packed"
    packed = pack(b"day,imps\n" + b"".join(b"2026-01-01,%d\n" % number**3 for number in range(20_000)))
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ImportRefused, match=r"damaged or cut-off|can't be read as a workbook"):
        rows(path)


def test_zstandard_that_was_cut_off(tmp_path: Path) -> None:
    """The same of Zstandard."""
    data = b"day,imps\n" + b"".join(b"2026-01-01,%d\n" % number**3 for number in range(200_000))
    path = zstd_file(tmp_path / "a.csv.zst", data)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ImportRefused, match="damaged or cut-off zstd file"):
        rows(path)


@pytest.mark.parametrize("name", ["a.json", "a.txt", "a.ndjson"])
def test_a_json_array(tmp_path: Path, name: str) -> None:
    """One array of objects is read as NDJSON is; its lines are its elements."""
    path = tmp_path / name
    elements = [{"day": "2026-01-01", "geo": {"country": "US"}}, {"day": "2026-01-02"}]
    path.write_text(json.dumps(elements, indent=2))
    source = reader(path, "ndjson" if name == "a.txt" else None)
    (raw,) = source.rows(None, lambda reject: None)
    assert raw.table.to_pylist() == [
        {"day": "2026-01-01", "geo.country": "US"},
        {"day": "2026-01-02", "geo.country": None},
    ]
    assert raw.lines.tolist() == [1, 2]
    assert source.description.startswith("JSON array")


def test_a_json_array_that_was_cut_off(tmp_path: Path) -> None:
    """It is refused with where it ends."""
    path = tmp_path / "a.json"
    path.write_text('[{"day": "2026-01-01"}')
    with pytest.raises(ImportRefused, match="one JSON array and can't be read"):
        rows(path)
