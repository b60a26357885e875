#!/usr/bin/env bash
# deltalake 1.6.6 and pyiceberg 0.12.0: delete("x > 5") removes rows with NaN from a table of Delta, and keeps them
# in one of Iceberg.
#
# Guess: NaN > 5 is false, as in Python, Arrow and Iceberg, so that a delete keeps these rows in both.
# Seen: deltalake's predicates have NaN as the greatest number, as PostgreSQL and DuckDB order it: of 1, 10, NaN and
# a missing value 1 and the missing one stay; pyiceberg keeps NaN, too. A clean-up of outliers that was moved from
# one format to the other removes other rows.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
  deltalake==1.6.6 'pyiceberg[sql-sqlite]==0.12.0' pyarrow==26.0.1
cd "$folder"
PYTHONWARNINGS=ignore venv/bin/python - <<'PY'
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

rows = pa.table({"x": [1.0, 10.0, float("nan"), None]})

write_deltalake("delta", rows)
DeltaTable("delta").delete("x > 5")
delta = DeltaTable("delta").to_pyarrow_table()["x"].to_pylist()

here = Path.cwd()
catalog = SqlCatalog("try", uri=f"sqlite:///{here}/catalog.db", warehouse=f"file://{here}/iceberg")
catalog.create_namespace("n")
table = catalog.create_table("n.t", rows.schema)
table.append(rows)
table.delete("x > 5")
iceberg = table.scan().to_arrow()["x"].to_pylist()

print(f"Delta {delta}, Iceberg {iceberg}")
assert repr(delta) == "[1.0, None]" and repr(iceberg) == "[1.0, nan, None]"
PY
