"""Sheets whose cells lie far apart: refused before a table of that size is made, in each kind of workbook."""

import io
import itertools
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
import xlwt
from ingesting import Place, definition, reader

from lib.ingest.sheet_extent import DAMAGE_ERRORS, sheet_extents
from lib.wire.errors import ImportRefused

ROOT = Path(__file__).parents[2]
SCHEMAS = "http://schemas.openxmlformats.org"
MAIN, LINKS = f"{SCHEMAS}/spreadsheetml/2006/main", f"{SCHEMAS}/officeDocument/2006/relationships"
PACKAGE = f"{SCHEMAS}/package/2006/relationships"
ODS_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)
LAST_ROW, LAST_COLUMN = 1_048_576, 16_384
LIMIT = 3 << 30
READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from pathlib import Path
from lib.ingest import readers
from lib.wire.errors import ImportRefused
for path in map(Path, sys.argv[1:]):
    try:
        readers(path)
    except ImportRefused as error:
        print(error.reason)
"""
Cell = tuple[int, int, str | float]
"""Row and column, from 1, and value."""


def letters(column: int) -> str:
    """The name of a column."""
    name = ""
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(65 + letter) + name
    return name


def archive(path: Path, parts: dict[str, str | bytes]) -> None:
    """A zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)


def link(target: str, kind: str) -> str:
    """A part of links with a single one."""
    relationship = f'<Relationship Id="r1" Type="{LINKS}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{PACKAGE}">{relationship}</Relationships>'


def by_row(cells: Iterable[Cell]) -> Iterable[tuple[int, list[Cell]]]:
    """The cells of each row."""
    return ((row, list(group)) for row, group in itertools.groupby(sorted(cells), key=lambda cell: cell[0]))


def xlsx_of(path: Path, rows: str) -> None:
    """An xlsx file whose only sheet has these rows."""
    sheets = '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
    archive(
        path,
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": link("xl/workbook.xml", "officeDocument"),
            "xl/_rels/workbook.xml.rels": link("worksheets/sheet1.xml", "worksheet"),
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}">{sheets}</workbook>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}">{rows}</worksheet>',
        },
    )


def xlsx(path: Path, cells: Iterable[Cell]) -> None:
    """An xlsx file, with a cell in the last corner that has a style and no value."""
    rows = "".join(
        f'<row r="{row}">'
        + "".join(f'<c r="{letters(column)}{row}" t="str"><v>{value}</v></c>' for _, column, value in group)
        + "</row>"
        for row, group in by_row(cells)
    )
    styled = f'<row r="{LAST_ROW}"><c r="XFD{LAST_ROW}" s="0"/></row>'
    xlsx_of(path, f'<dimension ref="A1:XFD{LAST_ROW}"/><sheetData>{rows}{styled}</sheetData>')


def record(kind: int, content: bytes = b"") -> bytes:
    """A record of an xlsb part ([MS-XLSB] 2.1.4)."""
    head = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(content)
    while size >= 0x80:
        head, size = head + bytes([size & 0x7F | 0x80]), size >> 7
    return head + bytes([size]) + content


def wide(text: str) -> bytes:
    """A text of an xlsb part."""
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(path: Path, cells: Iterable[Cell]) -> None:
    """An xlsb file, with a blank cell in the last corner."""
    sheet = (
        record(0x81) + record(0x94, struct.pack("<4I", 0, LAST_ROW - 1, 0, LAST_COLUMN - 1)) + record(0x91)
    )
    for row, group in by_row(cells):
        sheet += record(0x00, struct.pack("<I13x", row - 1))
        for _, column, value in group:
            sheet += record(0x06, struct.pack("<II", column - 1, 0) + wide(str(value)))
    sheet += record(0x00, struct.pack("<I13x", LAST_ROW - 1)) + record(
        0x01, struct.pack("<II", LAST_COLUMN - 1, 0)
    )
    book = record(0x83) + record(0x8F) + record(0x9C, struct.pack("<II", 0, 1) + wide("r1") + wide("S"))
    archive(
        path,
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.bin": book + record(0x90) + record(0x84),
            "xl/_rels/workbook.bin.rels": link("worksheets/sheet1.bin", "worksheet"),
            "xl/worksheets/sheet1.bin": sheet + record(0x92) + record(0x82),
        },
    )


def ods(path: Path, cells: Iterable[Cell]) -> None:
    """An ods file as LibreOffice writes it: gaps are repeated cells and rows, to the last corner."""
    rows, last_row = "", 0
    empty = '<table:table-row table:number-rows-repeated="{}"><table:table-cell/></table:table-row>'
    for row, group in by_row(cells):
        rows += empty.format(row - last_row - 1) if row > last_row + 1 else ""
        content, last_column = "", 0
        for _, column, value in group:
            if gap := column - last_column - 1:
                content += f'<table:table-cell table:number-columns-repeated="{gap}"/>'
            content += (
                f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
            )
            last_column = column
        rest = f'<table:table-cell table:number-columns-repeated="{LAST_COLUMN - last_column}"/>'
        rows += f"<table:table-row>{content}{rest if last_column < LAST_COLUMN else ''}</table:table-row>"
        last_row = row
    rows += empty.format(LAST_ROW - last_row) if last_row < LAST_ROW else ""
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{rows}</table:table>'
    document = f"<office:document-content {ODS_NAMES}>{body}</office:spreadsheet></office:body>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    entry = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    file = f'<m:file-entry m:full-path="/" m:media-type="{kind}"/>'
    archive(
        path,
        {
            "mimetype": kind,
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{entry}">{file}</m:manifest>',
            "content.xml": f"{document}</office:document-content>",
        },
    )


def xls(path: Path, cells: Iterable[Cell]) -> None:
    """An xls file; a cell beyond what Excel 97 can hold is put there by hand."""
    book = xlwt.Workbook()
    sheet, moved = book.add_sheet("S"), []
    for row, column, value in cells:
        if row > 65_536 or column > 256:
            moved.append((row, column))
            row, column, value = 999, 99, 7
        sheet.write(row - 1, column - 1, value)
    book.save(str(path))
    for row, column in moved:
        number, there = struct.pack("<HHHH", 0x27E, 10, 998, 98), min(row, 65_536)
        content = path.read_bytes()
        assert content.count(number) == 1
        path.write_bytes(content.replace(number, struct.pack("<HHHH", 0x27E, 10, there - 1, column - 1)))


def large_xls(path: Path, cells: Iterable[Cell]) -> None:
    """An xls file that says of itself that it reaches to the last corner of all."""
    xls(path, [(1, 1, "time"), (2, 2, 1)])
    content, size = path.read_bytes(), struct.pack("<HHIIHH", 0x200, 14, 0, 2, 0, 2)
    assert content.count(size) == 1
    path.write_bytes(content.replace(size, struct.pack("<HHIIHH", 0x200, 14, 0, 2**32 - 1, 0, 2**16 - 1)))


def unnamed_xlsx(path: Path, cells: Iterable[Cell]) -> None:
    """An xlsx file whose last cell has no reference: it is the one after the others."""
    value = '<c t="str"><v>a</v></c>'
    last_row = f'<row r="{LAST_ROW}"><c r="XFC{LAST_ROW}"/>{value}</row>'
    xlsx_of(path, f"<sheetData><row>{value}</row>{last_row}</sheetData>")


def prefixed_xlsx(path: Path, cells: Iterable[Cell]) -> None:
    """An xlsx file whose elements have a prefix."""
    rows = '<x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c></x:row>'
    rows += f'<x:row r="{LAST_ROW}"><x:c r="XFD{LAST_ROW}"><x:v>1</x:v></x:c></x:row>'
    xlsx_of(path, f'<x:sheetData xmlns:x="{MAIN}">{rows}</x:sheetData>')


def declaring_xlsx(path: Path, cells: Iterable[Cell]) -> None:
    """An xlsx file with a sheet that declares an entity."""
    xlsx_of(path, "<sheetData/>")
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("xl/worksheets/sheet2.xml", '<!DOCTYPE x [<!ENTITY e "e">]><x><sheetData/></x>')


Make = Callable[[Path, Iterable[Cell]], None]
FAR: list[Cell] = [(1, 1, "time"), (LAST_ROW, LAST_COLUMN, 1)]
NEARER: list[Cell] = [(1, 1, "time"), (1_000_000, 90, 1)]
HOSTILE: list[tuple[Make, str, list[Cell], str]] = [
    (xlsx, "far.xlsx", FAR, "reaches to XFD1048576: 17,179,869,184 cells"),
    (xlsx, "nearer.xlsx", NEARER, "reaches to CL1000000: 90,000,000 cells"),
    (xlsx, "beyond.xlsx", [(1, 1, "time"), (2**32 - 1, 1, 1)], "reaches to A4294967295"),
    (unnamed_xlsx, "unnamed.xlsx", [], "reaches to XFD1048576"),
    (prefixed_xlsx, "prefixed.xlsx", [], "reaches to XFD1048576"),
    (declaring_xlsx, "declaring.xlsx", [], "can't be read as a workbook (declarations in a part)"),
    (xlsb, "far.xlsb", FAR, "reaches to XFD1048576"),
    (xlsb, "nearer.xlsb", NEARER, "reaches to CL1000000"),
    (ods, "far.ods", FAR, "reaches to XFD1048576"),
    (ods, "nearer.ods", NEARER, "reaches to CL1000000"),
    (ods, "narrow.ods", [(row, LAST_COLUMN, 1) for row in range(1, 6_001)], "reaches to XFD6000"),
    (xls, "far.xls", [(1, 1, "time"), (65_536, 65_536, 1)], "reaches to CRXP65536"),
    (large_xls, "large.xls", [], "reaches to CRXO4294967295"),
]


def test_cells_far_apart_are_refused(tmp_path: Path) -> None:
    """Each is refused with its corner, by a process that has 3 GiB of addresses and goes on."""
    for make, name, cells, _ in HOSTILE:
        make(tmp_path / name, cells)
    paths = [str(tmp_path / name) for _, name, _, _ in HOSTILE]
    done = subprocess.run(
        [sys.executable, "-c", READ.format(limit=LIMIT), *paths],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reasons = done.stdout.splitlines()
    assert len(reasons) == len(HOSTILE)
    for (_, name, _, words), reason in zip(HOSTILE, reasons, strict=True):
        assert reason.startswith(name) and words in reason


TABLE: list[Cell] = [
    *((1, column, name) for column, name in enumerate(("time", "site", "imps"), 1)),
    *((2, column, value) for column, value in enumerate(("2026-01-05", "a", "5"), 1)),
    *((20_000, column, value) for column, value in enumerate(("2026-01-06", "b", "7"), 1)),
    (20_000, 250, "far to the right"),
]


@pytest.mark.parametrize(
    ("make", "name"), [(xlsx, "a.xlsx"), (xlsb, "a.xlsb"), (ods, "a.ods"), (xls, "a.xls")]
)
def test_a_sparse_sheet_that_fits_is_read(tmp_path: Path, make: Make, name: str) -> None:
    """Rows with wide gaps are read, whatever styles and sizes reach to the last corner of the sheet."""
    place = Place(tmp_path)
    make(tmp_path / name, TABLE)
    rows = place.rows((tmp_path / name).rename(tmp_path / "table.xlsx"), definition=definition())
    assert [(row["site"], row["imps"]) for row in rows] == [("a", 5), ("b", 7)]


@pytest.mark.parametrize("make", [xlsx, xlsb, ods, xls])
def test_damage_is_told(tmp_path: Path, make: Make) -> None:
    """Bytes that were changed or cut off never cause anything but the errors that a reader expects."""
    make(tmp_path / "a", TABLE)
    content, random, damaged = (tmp_path / "a").read_bytes(), np.random.default_rng(7), 0
    for _ in range(200):
        changed = bytearray(content)
        for position in random.integers(len(changed), size=random.choice((1, 3, 20))):
            changed[position] = random.integers(256)
        length = random.integers(len(content) // 2, 2 * len(content))
        try:
            list(sheet_extents(io.BytesIO(bytes(changed[:length]))))
        except DAMAGE_ERRORS:
            damaged += 1
    assert damaged > 0


def test_a_part_that_is_longer_than_it_says(tmp_path: Path) -> None:
    """An archive that names less than a part unpacks to is refused."""
    path = tmp_path / "a.xlsx"
    xlsx(path, TABLE)
    with zipfile.ZipFile(path) as file:
        size = file.getinfo("xl/worksheets/sheet1.xml").file_size
    content = path.read_bytes()
    assert content.count(struct.pack("<I", size)) == 2
    path.write_bytes(content.replace(struct.pack("<I", size), struct.pack("<I", size - 100)))
    with pytest.raises(ImportRefused, match=r"sheet1\.xml is longer than the archive says"):
        reader(path)
