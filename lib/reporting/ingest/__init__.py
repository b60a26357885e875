"""From a file to rows of a slicer.

files.py       which file it is: format, compression, digest
encodings.py   which characters its bytes mean, and the same as UTF-8
delimited.py   CSV and TSV → raw rows      (records.py: where each record begins and ends)
ndjson.py      NDJSON → raw rows
parquet.py     Parquet → raw rows
inference.py   a sample of raw rows → a definition
cells.py       raw cells → text, numbers, elements; times.py: → time
normalise.py   raw rows + definition → rows as the warehouse stores them
rejects.py     the rows that can't be read, and why
importing.py   files + definition → warehouse, all or nothing
"""
