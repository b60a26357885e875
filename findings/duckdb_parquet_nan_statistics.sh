#!/usr/bin/env bash
# duckdb 2.0.0 with pyarrow 26.0.1: over a Parquet file with a NaN, WHERE isnan finds none and x <= 1e308 holds for it.
#
# Guess: NaN is greater than all numbers, as DuckDB documents it, so WHERE isnan(x) counts 1, and a sum of those up to
# 1e308 leaves it out: 2 rows, 3.0.
# Seen: 0, 3 rows and nan. The conditions are decided by the smallest and largest value in the file's statistics, which
# leave NaN out as the format says. isnan in a FILTER finds it, and isfinite is right everywhere.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check duckdb==2.0.0 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PY'
import math

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

pq.write_table(pa.table({"x": [1.0, float("nan"), 2.0]}), "f.parquet")
[(nans,)] = duckdb.sql("SELECT count(*) FROM 'f.parquet' WHERE isnan(x)").fetchall()
[(filtered, rows, total, finite)] = duckdb.sql(
    """SELECT count(*) FILTER (WHERE isnan(x)), count(*) FILTER (WHERE x <= 1e308),
       sum(CASE WHEN x <= 1e308 THEN x END), sum(CASE WHEN isfinite(x) THEN x END) FROM 'f.parquet'"""
).fetchall()
print(nans, filtered, rows, total, finite)
assert (nans, filtered, rows, finite) == (0, 1, 3, 3.0) and math.isnan(total)
PY
