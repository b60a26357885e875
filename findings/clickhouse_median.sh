#!/usr/bin/env bash
# chdb 4.4.0 (ClickHouse 26.9.2.1) and duckdb 2.0.1: the median of more than 8,192 values is another one.
#
# Guess: `median(price)` is the exact median, as in DuckDB and PostgreSQL's percentile_cont; at the most it
# warns, or is called approximate.
# Seen: `median` and `quantile` draw 8,192 values (reservoir sampling with a fixed seed) and take the median of
# those, silently and the same at each run. Up to 8,192 values it is exact; of the whole numbers 0 to 8,192 it
# is 4,096.5 instead of 4,096, and of 0 to 100,000 it is 50,501.5 instead of 50,000: one percent too much.
# `quantileExact` gives a value that occurs, `quantileExactInclusive` is what the others mean. Two reports of one
# month of clearing prices disagree without either being wrong.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check chdb==4.4.0 duckdb==2.0.1
"$folder/venv/bin/python" - <<'PY'
import chdb
import duckdb

seen = {}
for count in (8_192, 8_193, 100_001):
    statement = f"SELECT median(number), quantileExactInclusive(0.5)(number) FROM numbers({count})"
    sampled, exact = map(float, chdb.query(statement, "CSV").bytes().split(b","))
    (peer,) = duckdb.sql(f"SELECT median(range) FROM range({count})").fetchall()[0]
    print(f"{count:,} values: median {sampled}, exact {exact}, DuckDB {peer}")
    assert exact == peer
    seen[count] = sampled - peer
assert seen == {8_192: 0.0, 8_193: 0.5, 100_001: 501.5}
PY
