"""The formats of export files: one entry each, from which the rest is derived."""

import datetime as dt
from typing import IO, get_args

import pandas as pd
import pytest

from lib.reporting import files
from lib.reporting.files import FileColumn, FileTable, formats
from lib.slicers.models import EXTENSIONS
from lib.wire.deadline import Deadline

TABLE = FileTable((FileColumn("site", "Site", pd.Series(["a", "b"]), kind="text", role="key"),))


def test_every_format_has_an_entry() -> None:
    """The registry has the API's formats and no others; those beyond the specification are extensions."""
    assert set(formats.FORMATS) == set(get_args(formats.ExportFormat))
    assert {name for name, export_format in formats.FORMATS.items() if not export_format.plain_words} == {
        "xlsx"
    }
    assert "xlsx" in EXTENSIONS


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_format_writes_its_file_and_says_what_it_is(name: formats.ExportFormat) -> None:
    """Each entry writes a file, and has a media type and words; a workbook has limits, a text a dialect."""
    with files.make_file(TABLE, name) as file:
        assert file.read()
    entry = formats.FORMATS[name]
    assert files.media_type(name) == entry.media_type
    assert entry.words.endswith(".")
    assert (entry.limits is None) != (entry.dialect is None)


def test_one_entry_is_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an entry, files of a new format are written, named and typed."""

    def write(table: FileTable, file: IO[bytes], deadline: Deadline) -> None:
        file.write("|".join(table.columns[0].values).encode())

    monkeypatch.setitem(formats.FORMATS, "psv", formats.Format(write, "text/plain", "Text with bars."))
    with files.make_file(TABLE, "psv") as file:
        assert file.read() == b"a|b"
    assert files.media_type("psv") == "text/plain"
    day = dt.date(2026, 11, 14)
    assert files.filename("delivery", day, day, "psv") == "delivery_2026-11-14_2026-11-14.psv"
