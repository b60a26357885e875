#!/usr/bin/env bash
# pyarrow 26.0.1, pandas 3.1.1, polars 2.1.0: floor to hours of a zone on the day when clocks go back.
#
# Guess: times with a zone say which of the two hours they are in, so to floor them to the hour is always
# possible; and two-hour bins on such a day are of two or three hours each.
# Seen: pyarrow and pandas floor the local clock's time, and then don't know which of the two hours it is: both
# raise an error, though every row was a known instant. polars keeps the hours apart; of bins of two hours one has
# the first 02:00 alone, the next the second 02:00 and 03:00. In UTC all three agree.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check pyarrow==26.0.1 pandas==3.1.1 polars==2.1.0 tzdata
"$folder/venv/bin/python" - <<'PY'
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

hours = pd.Series(pd.date_range("2026-10-24T22:00Z", periods=25, freq="h")).dt.tz_convert("Europe/Berlin")
errors = {}
for program, floor in (
    ("pyarrow", lambda: pc.floor_temporal(pa.array(hours), unit="hour")),
    ("pandas", lambda: hours.dt.floor("h")),
):
    try:
        floor()
    except ValueError as error:
        errors[program] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        print(f"{program}: {errors[program]}")
series = pl.Series(hours)
single, double = (series.dt.truncate(size).dt.convert_time_zone("UTC").dt.hour().to_list() for size in ("1h", "2h"))
print("polars, bins of one hour, UTC:", single)
print("polars, bins of two hours, UTC:", double)
assert set(errors) == {"pyarrow", "pandas"} and "ambiguous" in errors["pyarrow"]
assert single == [22, 23, *range(23)]
assert double == [22, 22, 0, *(hour for hour in range(1, 22, 2) for _ in range(2))]
PY
