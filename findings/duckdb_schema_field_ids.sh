#!/usr/bin/env bash
# duckdb 2.0.0: read_parquet with a schema of field ids reads a file without ids as rows of nothing but NULL.
#
# Guess: a file whose columns have no field ids is refused, or its columns are found by their names, as Iceberg's
# readers do by a mapping of names; files that pyiceberg's add_files takes into a table have no ids.
# Seen: 2 rows of NULL beside 2 rows with their values, and no error: counts are right, and sums are not.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check duckdb==2.0.0
cd "$folder"
venv/bin/python - <<'PY'
import duckdb

duckdb.sql("COPY (SELECT unnest([1, 2]) AS v) TO 'with_ids.parquet' (FIELD_IDS {v: 1})")
duckdb.sql("COPY (SELECT unnest([4, 8]) AS v) TO 'without.parquet'")
schema = "MAP {1: {name: 'v', type: 'INTEGER', default_value: NULL}}"
files = f"read_parquet(['with_ids.parquet', 'without.parquet'], schema = {schema})"
[(rows, total)] = duckdb.sql(f"SELECT count(*), sum(v)::INTEGER FROM {files}").fetchall()
print(f"duckdb {duckdb.__version__}: {rows} rows, whose sum is {total}")
assert (rows, total) == (4, 3)
PY
