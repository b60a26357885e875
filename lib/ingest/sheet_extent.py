"""How far the values of a workbook's sheets reach, told from the file before a table of that size is made.

The reader of workbooks (calamine) holds a sheet as a table, empty cells included, from its first column to
its last: two cells in opposite corners, a file of 2 kB, are 512 GiB, and an allocation that fails ends the
process. So the places of cells are read here first, as that reader reads them: cells without a value don't
count, and what a sheet says of its own size counts only where that reader believes it (xls).
"""

import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Protocol, TypeVar
from xml.parsers import expat

DAMAGE_ERRORS = (
    expat.ExpatError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    EOFError,
    KeyError,
    NotImplementedError,
    ValueError,
)
PIECE_BYTES = 1 << 20
_ALPHABET = 26
_ODS_CONTENT = "content.xml"
_ODS_VALUES = frozenset({"value-type", "value", "formula", "string-value", "date-value", "time-value"})
_BINARY_WORKBOOK = "xl/workbook.bin"
# Kinds of records of xlsb: a row, values (a missing one is 0x01), the begin and end of all rows.
_XLSB_ROW, _XLSB_VALUES = 0x00, frozenset({*range(0x02, 0x0C), 0x3E})
_XLSB_BEGIN, _XLSB_END = 0x91, 0x92
# Kinds of records of xls: values, several values of a row, the size of a sheet, a sheet, the end of a part.
_XLS_VALUES = frozenset({0x06, 0x206, 0x406, 0x203, 0x204, 0x205, 0xD6, 0x27E, 0xFD})
_XLS_SEVERAL, _XLS_SIZE, _XLS_SHEET, _XLS_END = 0xBD, 0x200, 0x85, 0x0A
_XLS_SIZE_FORMS = {True: "<IIHH", False: "<HHHH"}  # of Excel 97, and of those before it
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_ENTRY_BYTES, _OLE_SMALL_BYTES, _OLE_HEADER_SECTORS = 128, 64, 109
_OLE_STREAMS = ("workbook", "book")
_Sector = Callable[[int], bytes]


@dataclass
class SheetExtent:
    """The columns of a sheet, from the first with a value to the last, and its last row; all count from 1."""

    last_row: int = 0
    last_column: int = 0
    first_column: int = 0

    @property
    def cells(self) -> int:
        """How many cells the sheet is held as."""
        return self.last_row * (self.last_column - self.first_column + 1)

    @property
    def corner(self) -> str:
        """The last row and column as a spreadsheet names them, such as XFD1048576."""
        letters, number = "", self.last_column
        while number:
            number, letter = divmod(number - 1, _ALPHABET)
            letters = chr(ord("A") + letter) + letters
        return f"{letters}{self.last_row}"

    def add(self, row: int, first_column: int, last_column: int) -> None:
        """Take in values of a row."""
        if row > self.last_row:
            self.last_row = row
        if last_column > self.last_column:
            self.last_column = last_column
        if first_column < self.first_column or not self.first_column:
            self.first_column = first_column


def sheet_extents(content: io.BytesIO) -> Iterator[SheetExtent]:
    """The extent of each sheet of a workbook (xlsx, xlsb, ods, xls). DAMAGE_ERRORS for a damaged one."""
    if zipfile.is_zipfile(content):
        with zipfile.ZipFile(content) as archive:
            # Parts are known by their content: which of them are sheets is a matter of links between parts.
            has_binary_parts = _BINARY_WORKBOOK in archive.namelist()
            for part in archive.infolist():
                if part.filename == _ODS_CONTENT:
                    yield from _parse(_OdsTables(), _pieces(archive, part)).extents
                elif any(
                    b"sheetData" in last[-len(b"sheetData") :] + piece
                    for last, piece in pairwise(chain([b""], _pieces(archive, part)))
                ):
                    yield _parse(_XlsxCells(), _pieces(archive, part)).extent
                elif has_binary_parts:
                    yield _xlsb_extent(b"".join(_pieces(archive, part)))
    elif content.getbuffer()[: len(_OLE)] == _OLE:
        yield from _xls_extents(_OleFile(content.getvalue()).workbook())


def column_number(letters: str) -> int:
    """The number of the column that a spreadsheet calls by these letters: 28 of AB."""
    number = 0
    for letter in letters.upper():
        number = number * _ALPHABET + ord(letter) - ord("A") + 1
    return number


def _pieces(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a part. BadZipFile for more than the archive says, where zipfile would have ended."""
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or part.flag_bits & 1:
        raise zipfile.BadZipFile(f"{part.filename} is packed as no workbook is")
    whole, size = copy(part), 0
    whole.file_size = sys.maxsize
    with archive.open(whole) as file:
        while piece := file.read(PIECE_BYTES):
            size += len(piece)
            if size > part.file_size:
                raise zipfile.BadZipFile(f"{part.filename} is longer than the archive says")
            yield piece


class _Handler(Protocol):
    """Takes in the elements of a part, in their order."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...


_AnyHandler = TypeVar("_AnyHandler", bound=_Handler)


def _parse(handler: _AnyHandler, pieces: Iterator[bytes]) -> _AnyHandler:
    """The handler, once it has taken in a part."""
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = handler.start, handler.end
    parser.StartDoctypeDeclHandler = _check_declarations
    for piece in pieces:
        parser.Parse(piece)
    parser.Parse(b"", True)
    return handler


def _check_declarations(name: str, system: str | None, public: str | None, has_declarations: bool) -> None:
    """No part of a workbook declares entities (ECMA-376, part 2, 6.2.5), and calamine skips declarations."""
    if has_declarations:
        raise ValueError("declarations in a part")


def _local(name: str) -> str:
    """The name of an element or attribute without its prefix."""
    return name.rpartition(":")[2]


class _XlsxCells:
    """The cells of a sheet of xlsx (ECMA-376, part 1, 18.3.1): one without a reference is the next."""

    def __init__(self) -> None:
        self.extent = SheetExtent()
        self._row, self._column, self._next_row, self._next_column = 1, 1, 1, 1
        self._numbers: dict[str, int] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "v" or name == "is":  # noqa: PLR1714, RUF100 (met for every cell)
            self.extent.add(self._row, self._column, self._column)
        elif name == "c":
            reference = attributes.get("r")
            if reference is None:
                self._row, self._column = self._next_row, self._next_column
            else:
                letters = reference.rstrip("0123456789")
                # The number of the column that these letters name.
                if letters not in self._numbers:
                    self._numbers[letters] = column_number(letters)
                self._row, self._column = int(reference[len(letters) :]), self._numbers[letters]
            self._next_column = self._column + 1
        elif name == "row":
            self._next_row = int(attributes.get("r", self._next_row))
        elif ":" in name:
            self.start(_local(name), attributes)

    def end(self, name: str) -> None:
        if name == "row" or name.endswith(":row"):
            self._next_row, self._next_column = self._next_row + 1, 1


class _OdsTables:
    """The tables of ods (OpenDocument 1.3, part 3, 9.1): rows and cells in order, each once or repeated.

    They count from the first column on, since calamine puts empty cells before the first value of each row.
    """

    def __init__(self) -> None:
        self.extents: list[SheetExtent] = []
        self._last_row, self._last_column = 0, 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = _local(name)
        if name == "table":
            self.extents.append(SheetExtent())
            self._last_row = 0
        elif name == "table-row":
            self._last_column = 0
            self._last_row += int(attributes.get("table:number-rows-repeated", 1))
        elif name in ("table-cell", "covered-table-cell"):
            self._last_column += int(attributes.get("table:number-columns-repeated", 1))
            if self.extents and not _ODS_VALUES.isdisjoint(map(_local, attributes)):
                self.extents[-1].add(self._last_row, 1, self._last_column)

    def end(self, name: str) -> None:
        pass


def _xlsb_extent(part: bytes) -> SheetExtent:
    """The extent of a sheet in binary records ([MS-XLSB] 2.1.4, 2.4); an empty one of another part."""
    extent, row, has_begun = SheetExtent(), 0, False
    position = 0
    while position < len(part):
        kind, start = _xlsb_number(part, position, 2)
        size, start = _xlsb_number(part, start, 4)
        position = start + size
        if kind == _XLSB_END or position > len(part):
            break
        if kind == _XLSB_BEGIN:
            has_begun = True
        elif has_begun and kind == _XLSB_ROW:
            row = struct.unpack_from("<I", part, start)[0] + 1
        elif has_begun and kind in _XLSB_VALUES:
            column = struct.unpack_from("<I", part, start)[0] + 1
            extent.add(row, column, column)
    return extent


def _xlsb_number(part: bytes, position: int, most: int) -> tuple[int, int]:
    """A number of 7 bits a byte, the lowest first, and where it ends; bytes beyond the part are 0."""
    number = 0
    for index in range(most):
        byte = part[position] if position < len(part) else 0
        number, position = number | (byte & 0x7F) << 7 * index, position + 1
        if byte < 0x80:
            break
    return number, position


def _xls_extents(stream: bytes) -> Iterator[SheetExtent]:
    """The extents of the sheets in the records of a workbook of Excel 97 or before ([MS-XLS] 2.4)."""
    sheets = [record for kind, record in _xls_records(stream, 0) if kind == _XLS_SHEET]
    for (first,) in map(struct.Struct("<I").unpack_from, sheets):
        extent = SheetExtent()
        for kind, record in _xls_records(stream, first):
            if kind in _XLS_VALUES or kind == _XLS_SEVERAL:
                row, column = struct.unpack_from("<HH", record)
                last = struct.unpack("<H", record[-2:])[0] if kind == _XLS_SEVERAL else column
                extent.add(row + 1, column + 1, last + 1)
            elif kind == _XLS_SIZE:  # calamine makes room for as many cells before it reads any
                form = _XLS_SIZE_FORMS[len(record) >= struct.calcsize(_XLS_SIZE_FORMS[True])]
                _, rows, column, columns = struct.unpack_from(form, record)
                if rows and columns:
                    extent.add(rows, column + 1, columns)
        yield extent


def _xls_records(stream: bytes, position: int) -> Iterator[tuple[int, bytes]]:
    """The kind and content of each record from a position up to the end of its part."""
    while position + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, position)
        if kind == _XLS_END:
            return
        yield kind, stream[position + 4 : position + 4 + size]
        position += 4 + size


class _OleFile:
    """A compound file ([MS-CFB]): streams in chains of sectors, small ones in sectors of a stream."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._sector_bytes = 1 << struct.unpack_from("<H", content, 30)[0]
        self._directory, _, self._cutoff = struct.unpack_from("<3I", content, 48)
        self._small_table, _, more = struct.unpack_from("<3I", content, 60)
        numbers, most = [*struct.unpack_from(f"<{_OLE_HEADER_SECTORS}I", content, 76)], len(content)
        while len(numbers) * self._sector_bytes <= most and (sector := self._sector(more)):
            *rest, more = struct.unpack(f"<{self._sector_bytes // 4}I", sector)
            numbers += rest
        self._table = b"".join(map(self._sector, numbers[: most // self._sector_bytes]))

    def workbook(self) -> bytes:
        """The stream of a workbook; empty without one."""
        directory, streams = _chain(self._sector, self._table, self._directory), {}
        for start in range(0, len(directory) - _OLE_ENTRY_BYTES + 1, _OLE_ENTRY_BYTES):
            entry = directory[start : start + _OLE_ENTRY_BYTES]
            (name_bytes,) = struct.unpack_from("<H", entry, 64)
            name = entry[: max(0, name_bytes - 2)].decode("utf-16-le", "replace").lower()
            streams["" if start == 0 else name] = struct.unpack_from("<II", entry, 116)
        first, size = next((streams[name] for name in _OLE_STREAMS if name in streams), (0, 0))
        if size >= self._cutoff:
            return _chain(self._sector, self._table, first)[:size]
        small = _chain(self._sector, self._table, streams[""][0])
        table = _chain(self._sector, self._table, self._small_table)

        def small_sector(number: int) -> bytes:
            return small[number * _OLE_SMALL_BYTES : (number + 1) * _OLE_SMALL_BYTES]

        return _chain(small_sector, table, first)[:size]

    def _sector(self, number: int) -> bytes:
        """A sector; empty beyond the end of the file, as the numbers that stand for none are."""
        return self._content[(number + 1) * self._sector_bytes : (number + 2) * self._sector_bytes]


def _chain(sector: _Sector, table: bytes, number: int) -> bytes:
    """The sectors of a chain. ValueError for one that comes back to itself."""
    parts: dict[int, bytes] = {}
    while number * 4 + 4 <= len(table):
        if number in parts:
            raise ValueError("sectors in a circle")
        parts[number] = sector(number)
        (number,) = struct.unpack_from("<I", table, number * 4)
    return b"".join(parts.values())
