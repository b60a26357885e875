#!/usr/bin/env bash
# deltalake 1.6.6: an unsigned column is stored as the signed one of the same width, so that 200 does not fit in uint8.
#
# Guess: Delta has no unsigned numbers, so uint8, uint16 and uint32 become the next wider signed type, as DuckDB and
# Spark make of them when they write what has no unsigned types.
# Seen: uint8 becomes byte (-128 to 127). The first small values make the table, and a later batch with 200 fails.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check deltalake==1.6.6 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PY'
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

write_deltalake("table", pa.table({"hits": pa.array([1, 2], pa.uint8())}))
kind = DeltaTable("table").schema().fields[0].type.type
try:
    write_deltalake("table", pa.table({"hits": pa.array([200], pa.uint8())}), mode="append")
    refused = ""
except Exception as error:
    refused = str(error)
print(f"{kind}: {refused}")
assert kind == "byte" and "Can't cast value 200 to type Int8" in refused
PY
