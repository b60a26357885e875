#!/usr/bin/env bash
# duckdb 2.0.0: a HUGEINT column that DuckDB writes to Parquet comes back as DOUBLE.
#
# Guess: DuckDB reads its own Parquet file with the types that it wrote, a HUGEINT as DECIMAL(38, 0) or HUGEINT.
# Seen: it is written as DOUBLE without a word, so sums of BIGINT (which are HUGEINT) lose digits beyond 2**53
# on their way through a file; as DECIMAL(38, 0) they keep them.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check duckdb==2.0.0
cd "$folder"
venv/bin/python - <<'PY'
import duckdb

rows = "(VALUES (9007199254740992), (1)) AS t(v)"
[(wrote,)] = duckdb.sql(f"SELECT typeof(sum(v)) FROM {rows}").fetchall()
duckdb.sql(f"COPY (SELECT sum(v) AS v, sum(v)::DECIMAL(38, 0) AS exact FROM {rows}) TO 'sums.parquet'")
[(read, value, exact)] = duckdb.sql("SELECT typeof(v), v::DECIMAL(38, 0), exact FROM 'sums.parquet'").fetchall()
print(f"wrote {wrote}, read {read}: {value}, as a decimal {exact}")
assert (wrote, read) == ("HUGEINT", "DOUBLE")
assert int(value) == 9007199254740992 and int(exact) == 9007199254740993
PY
