#!/usr/bin/env bash
# ibis-framework 12.0.0: on SQLite, startswith and endswith read % and _ in their argument as wildcards.
#
# Guess: startswith("50%") is true of texts that begin with these three characters, as on DuckDB, where it is
# a function.
# Seen: it compiles to LIKE without an escape, so "50 off" begins with "50%", and "a_b" is the end of "axb".
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check 'ibis-framework[sqlite,duckdb]==12.0.0'
"$folder/venv/bin/python" - <<'PY'
import ibis

values = ["50% off", "50 off", "a_b", "axb"]
frame = ibis.memtable({"v": values})
answers = {}
for name, connection in (("sqlite", ibis.sqlite.connect()), ("duckdb", ibis.duckdb.connect())):
    begins = frame.filter(frame.v.startswith("50%")).order_by("v")
    ends = frame.filter(frame.v.endswith("a_b")).order_by("v")
    answers[name] = [connection.execute(rows).v.tolist() for rows in (begins, ends)]
    print(name, answers[name])
assert answers["duckdb"] == [["50% off"], ["a_b"]], answers
assert answers["sqlite"] == [["50 off", "50% off"], ["a_b", "axb"]], answers
PY
