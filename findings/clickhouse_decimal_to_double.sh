#!/usr/bin/env bash
# chdb 4.4.0 (ClickHouse 26.9): a decimal is not turned into the nearest double.
#
# Guess: toFloat64 of a Decimal and of the same digits as text give the same double, the nearest one, as in
# DuckDB, PostgreSQL and Python.
# Seen: the digits of the decimal go through a double and are scaled afterwards, so 9999999999999999.1 becomes
# 9999999999999998 as a decimal and 10000000000000000 as text. Sums of money that must keep their digits have
# to leave ClickHouse as text.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check chdb==4.4.0 duckdb==2.0.0
"$folder/venv/bin/python" - <<'PY'
import chdb
import duckdb

digits = "9999999999999999.1"
text = chdb.query(f"SELECT toFloat64(toDecimal128('{digits}', 9)), toFloat64('{digits}')", "CSV")
from_decimal, from_text = map(float, str(text).strip().split(","))
[(in_duckdb,)] = duckdb.sql(f"SELECT CAST(CAST('{digits}' AS DECIMAL(38, 9)) AS DOUBLE)").fetchall()
print(f"ClickHouse: {from_decimal:.0f} from a decimal, {from_text:.0f} from text; DuckDB: {in_duckdb:.0f}")
assert (from_decimal, from_text, in_duckdb) == (9999999999999998.0, 1e16, float(digits))
PY
