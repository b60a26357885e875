#!/usr/bin/env bash
# pandas 3.1.1 with pyarrow 26.0.1: rows of 0.0 and -0.0 are one group of NumPy's floats, and two of Arrow's.
#
# Guess: a column that is read with `dtype_backend="pyarrow"` has the groups that it had before, as 0.0 == -0.0.
# Arrow counts and groups floats by their bits, and its join leaves a row of -0.0 without its 0.0. A bid floor
# or a discount that was multiplied by -1 then has two rows of zero in one report. DuckDB and Polars have one.
# Seen: groups {'numpy': 1, 'arrow': 2, 'pyarrow': 2, 'duckdb': 1, 'polars': 1}, 1 of 2 rows joined.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check pyarrow==26.0.1 pandas==3.1.1 \
  duckdb==2.0.0 polars==2.1.0
cd "$folder" && venv/bin/python - <<'PY'
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

report = pa.table({"floor": [0.0, -0.0], "imps": [3, 4]})
frames = {"numpy": report.to_pandas(), "arrow": report.to_pandas(types_mapper=pd.ArrowDtype)}
groups = {name: len(frame.groupby("floor").sum()) for name, frame in frames.items()}
groups["pyarrow"] = report.group_by("floor").aggregate([("imps", "sum")]).num_rows
groups["duckdb"] = len(duckdb.sql("SELECT floor, sum(imps) FROM report GROUP BY floor").fetchall())
groups["polars"] = pl.from_arrow(report).group_by("floor").sum().height
names = pa.table({"floor": [0.0], "name": ["open"]})
joined = report.join(names, "floor", join_type="inner").num_rows
print(f"pandas {pd.__version__}, pyarrow {pa.__version__}: groups {groups}, {joined} of 2 rows joined")
assert groups == {"numpy": 1, "arrow": 2, "pyarrow": 2, "duckdb": 1, "polars": 1}
assert joined == 1
PY
