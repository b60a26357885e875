#!/usr/bin/env bash
# pyarrow 26.0.1: a Parquet file of five rows holds the whole dictionary of its column.
#
# Guess: rows of a table whose text is dictionary-encoded are cheaper to write as they are, since Parquet has
# dictionary pages anyway; a file gets the values that its rows have.
# Seen: write_table puts every value of the dictionary into each file, also those that no row refers to. A table
# of many values that is written by day takes a thousand times the bytes that its plain text takes. Cast the
# column to text, or encode anew what was taken, before rows are written in parts.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check pyarrow==26.0.1
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import os

import pyarrow as pa
from pyarrow import parquet

values = pa.array([f"campaign {number:08d}" for number in range(100_000)])
column = pa.DictionaryArray.from_arrays(pa.array([1, 2, 3, 4, 5], pa.int32()), values)
table = pa.table({"campaign": column})
parquet.write_table(table, "coded.parquet")
parquet.write_table(pa.table({"campaign": column.cast(pa.string())}), "text.parquet")
parquet.write_table(pa.table({"campaign": column.cast(pa.string()).dictionary_encode()}), "anew.parquet")
sizes = {name: os.path.getsize(f"{name}.parquet") for name in ("coded", "text", "anew")}
print(f"Five rows: {sizes}")
assert parquet.read_table("coded.parquet")["campaign"].to_pylist() == column.to_pylist()
assert sizes["coded"] > 100_000 > 1_000 > max(sizes["text"], sizes["anew"])
PY
