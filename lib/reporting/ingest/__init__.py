"""From a file to rows of a slicer.

    files.py         which file it is: format, compression, digest; what a reader is
    encodings.py     which characters its bytes mean, and the same as UTF-8
    delimited.py     CSV and TSV → raw rows       (records.py: where records begin and end; layout.py)
    ndjson.py        NDJSON → raw rows
    workbook.py      XLSX → raw rows              (sheet_extent.py: how many cells a sheet has)
    readers.py       the reader of a file, by its format; Parquet → raw rows
    inference.py     a sample of raw rows → a definition   (time_guess.py, column_guess.py, column_names.py)
    cells.py         raw cells → text, numbers, elements; times.py: → time
    normalize.py     raw rows + definition → rows as the warehouse stores them
    rejects.py       the rows that can't be read, and why
    importing.py     files + definition → warehouse, all or nothing

Nothing is held whole: readers yield batches of some megabytes, and the warehouse writes them by day.
"""
