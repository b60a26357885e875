#!/usr/bin/env bash
# duckdb 2.0.0: union_by_name makes FLOAT of a BIGINT and a FLOAT column, and whole numbers lose their last digits.
#
# Guess: files of which one has a column as BIGINT and another as FLOAT are read as DOUBLE, the type that holds
# whole numbers up to 2**53, as Arrow's and pandas' promotion has it.
# Seen: the common type is FLOAT with 24 bits, so 16777217 is read as 16777216.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check duckdb==2.0.0
cd "$folder"
venv/bin/python - <<'PY'
import duckdb

duckdb.sql("COPY (SELECT 16777217::BIGINT AS v) TO 'a.parquet'")
duckdb.sql("COPY (SELECT 0.5::FLOAT AS v) TO 'b.parquet'")
files = "read_parquet(['a.parquet', 'b.parquet'], union_by_name = true)"
[(kind, most)] = duckdb.sql(f"SELECT any_value(typeof(v)), max(v)::DECIMAL(20, 1) FROM {files}").fetchall()
print(kind, most)
assert (kind, float(most)) == ("FLOAT", 16777216.0)
PY
