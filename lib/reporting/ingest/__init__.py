"""From a file to rows of a slicer.

    files.py         which file it is: format, compression, digest
    encodings.py     which characters its bytes mean, and the same as UTF-8
    rows.py          what a reader is, and the raw rows that it yields
    delimited.py     CSV and TSV → raw rows       (records.py: where records begin and end; parsed.py: cells)
    ndjson.py        NDJSON → raw rows
    parquet.py       Parquet → raw rows
    readers.py       the reader of a file, by its format
    inference.py     a sample of raw rows → a definition   (time_guess.py, column_guess.py, column_names.py)
    cells.py         raw cells → text, numbers, elements; times.py: → time
    normalise.py     raw rows + definition → rows as the warehouse stores them
    ahead.py         the next batch is read while one is normalised
    rejects.py       the rows that can't be read, and why
    importing.py     files + definition → warehouse, all or nothing

Nothing is held whole: readers yield batches of some megabytes, and the warehouse writes them by day.
"""
