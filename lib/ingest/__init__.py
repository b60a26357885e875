"""From a file to rows of a slicer. You may ignore what is behind these names; others import them from here.

    readers(path, …)                     the tables of a file (a Reader each), whatever its Format
    infer(reader, mappings, hints, …)    a definition from the first rows, and why; Hints are a person's
    fits(reader, definition)             whether a file has the columns that a definition reads
    preview(reader, definition, …)       the first rows, as they would be stored
    import_files(ImportJob, …)           all rows of all files into the warehouse, or nothing
    Rejects                              the rows that can't be read, and why

What can't be read raises ImportRefused, with where and what would be right.

    files.py         which file it is: format, compression, digest; what a reader gives
    text.py          CSV and TSV → raw rows   (records.py: its encoding, and where records end)
    workbook.py      XLSX, XLS, ODS → raw rows   (sheet_extent.py: how many cells a sheet has)
    layout.py        where the table of a text or a sheet is: its header and names
    columnar.py      Parquet, Arrow and ORC → raw rows
    json_rows.py     NDJSON and documents of JSON → raw rows
    markup.py        tables in HTML or XML → CSV
    unpivot.py       days across the columns of raw rows → a row for each
    time_guess.py    a sample of raw rows → which column is the time, and how it is written
                     (time_formats.py: what texts look like, and how likely their days are)
    column_guess.py  a column of a sample → key field or data field, by its values and by its name
                     (column_names.py, column_words.yaml)
    quotients.py     which columns are quotients of others, where their names and rows say the same
    inference.py     all of these → a definition
    later_file.py    what a later file says against the definition of its slicer
    cells.py         raw cells → text, numbers, elements   (numbers.py: their notation)
    times.py         raw cells → time   (clock_changes.py: hours that come twice or never)
    normalize.py     raw rows + definition → rows as the warehouse stores them
    rejects.py       the rows that can't be read, and why
    overlap.py       the rows whose keys a slicer has already
    importing.py     which of these reads a file; files + definition → warehouse, all or nothing, and the
                     first rows

Nothing is held whole: readers yield batches of some megabytes, and the warehouse writes them by day.
"""

from lib.ingest.files import Format, Reader
from lib.ingest.importing import ImportJob, fits, import_files, preview, readers
from lib.ingest.inference import Hints, infer
from lib.ingest.rejects import Rejects

__all__ = [
    "Format",
    "Hints",
    "ImportJob",
    "Reader",
    "Rejects",
    "fits",
    "import_files",
    "infer",
    "preview",
    "readers",
]
