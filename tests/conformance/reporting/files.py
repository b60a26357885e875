"""Export files, read back by readers that had no part in their writing."""

import csv
import io
from dataclasses import dataclass

import httpx
import openpyxl
import xlrd
from openpyxl.utils.escape import unescape
from tsv2 import read_tsv2

from conformance.reporting.oracle import Key

Cell = str | float | None
SEPARATORS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class File:
    """The titles of a file's columns, and its lines: numbers as text in csv, tsv and tsv2."""

    titles: list[Cell]
    lines: list[list[Cell]]

    def column(self, title: str) -> list[Cell]:
        """The cells below a title."""
        return [line[self.titles.index(title)] for line in self.lines]

    def rows(self, keys: int) -> dict[Key, list[float | None]]:
        """The numbers of each line, by the texts of its first columns."""
        by_key = {tuple(map(_text, line[:keys])): [*map(_number, line[keys:])] for line in self.lines}
        assert len(by_key) == len(self.lines)
        return by_key


def read(response: httpx.Response, export_format: str) -> File:
    """The file of an answer."""
    titles, *lines = _lines(response.content, export_format)
    assert {len(line) for line in lines} <= {len(titles)}
    return File(titles, lines)


def _lines(content: bytes, export_format: str) -> list[list[Cell]]:
    if export_format == "xls":
        book = xlrd.open_workbook(file_contents=content)
        return [[cell.value for cell in line] for line in book.sheet_by_index(0).get_rows()]
    if export_format == "xlsx":
        sheet = openpyxl.load_workbook(io.BytesIO(content)).worksheets[0]
        return [[*map(_without_escapes, line)] for line in sheet.iter_rows(values_only=True)]
    if export_format == "tsv2":
        return [[*line] for line in read_tsv2(content)]
    text = io.StringIO(content.decode(), newline="")
    return [list(line) for line in csv.reader(text, delimiter=SEPARATORS[export_format], strict=True)]


def _without_escapes(cell: Cell) -> Cell:
    """openpyxl leaves _x000D_ (ECMA-376, 22.9.2.19) to its caller."""
    return unescape(cell) if isinstance(cell, str) else cell


def _text(cell: Cell) -> str:
    return str(int(cell)) if isinstance(cell, float | int) else cell or ""


def _number(cell: Cell) -> float | None:
    return None if cell in (None, "") else float(cell)
