#!/usr/bin/env bash
# pyarrow 26.0.1: asked for no column, its Parquet reader gives none and its CSV reader gives all.
#
# Guess: an empty list of columns means the same to both readers of one library. A reader that only counts
# rows, or whose fields all come from elsewhere, then reads every column of a wide CSV file.
# Seen: CSV ['day', 'site', 'cost'], Parquet [].
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && venv/bin/python - <<'PY'
import io

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

none = csv.ConvertOptions(include_columns=[])
rows = csv.read_csv(io.BytesIO(b"day,site,cost\n2026-01-01,a,1\n"), convert_options=none)
pq.write_table(rows, "rows.parquet")
of_csv, of_parquet = rows.column_names, pq.read_table("rows.parquet", columns=[]).column_names
print(f"pyarrow {pa.__version__}: CSV {of_csv}, Parquet {of_parquet}")
assert (of_csv, of_parquet) == (["day", "site", "cost"], [])
PY
