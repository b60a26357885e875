#!/usr/bin/env bash
# pyarrow 26.0.1, and with it pandas 3.1.1: the mean of decimals has their scale, rounded.
#
# Guess: the mean of prices that are decimals of two digits is a double, or a decimal with more digits, as in
# DuckDB (double), polars (double) and Python's own decimals.
# Seen: `pyarrow.compute.mean`, `Table.group_by(…).aggregate([(…, "mean")])`, and `Series.mean` and
# `groupby(…).mean()` of pandas over Arrow decimals give a decimal of the same scale, rounded half away from
# zero. Bids of 0.02, 0.02, 0.02 and 0.01 average 0.02, a seventh too much. `stddev` of the same column is a
# double. Means of cheap impressions need the sum divided by the count, or a cast to double before.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check \
  pyarrow==26.0.1 pandas==3.1.1 duckdb==2.0.0 polars==2.1.0
"$folder/venv/bin/python" - <<'PY'
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

prices = pa.array(map(Decimal, ("0.02", "0.02", "0.02", "0.01")), pa.decimal128(10, 2))
bids = pa.table({"deal": [1, 1, 1, 1], "bid": prices})
frame = bids.to_pandas(types_mapper=pd.ArrowDtype)
means = {
    "pyarrow": pc.mean(bids["bid"]).as_py(),
    "pyarrow, grouped": bids.group_by("deal").aggregate([("bid", "mean")])["bid_mean"][0].as_py(),
    "pandas": frame["bid"].mean(),
    "pandas, grouped": frame.groupby("deal")["bid"].mean().iloc[0],
    "DuckDB": duckdb.sql("SELECT avg(bid) FROM bids").fetchall()[0][0],
    "polars": pl.from_arrow(bids)["bid"].mean(),
}
for program, mean in means.items():
    print(f"{program}: {mean!r}")
deviation = pc.stddev(bids["bid"]).as_py()
print(f"pyarrow's deviation: {deviation!r}")
rounded = [means[program] for program in ("pyarrow", "pyarrow, grouped", "pandas", "pandas, grouped")]
assert rounded == [Decimal("0.02")] * 4
assert means["DuckDB"] == means["polars"] == 0.0175
assert isinstance(deviation, float) and round(deviation, 6) == 0.00433
PY
