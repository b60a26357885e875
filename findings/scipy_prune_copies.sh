#!/usr/bin/env bash
# SciPy 1.17.1: a sparse array made of a short slice of a long array does not share its memory.
#
# Guess: csc_array((ones[:n], indices, indptr)) takes the values as they are, as `copy` is False, so that one
# long array of ones can serve every matrix.
# Seen: the constructor ends in prune(), which copies values and indices wherever the array that they are a
# view of is more than twice as large; copy=False changes nothing. A slice of more than half is shared. Arrays
# that are shared between matrices have to be made for each size, or set as `data` afterwards.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check scipy==1.17.1
"$folder/venv/bin/python" - <<'PY'
import numpy as np
from scipy.sparse import csc_array

count = 1000
indices, offsets = np.zeros(count, np.int32), np.arange(count + 1, dtype=np.int32)
shares = {}
for factor in (1.5, 3):
    ones = np.ones(int(factor * count))
    made = csc_array((ones[:count], indices, offsets), shape=(1, count), copy=False)
    shares[factor] = np.shares_memory(made.data, ones)
    print(f"A slice of an array {factor} times as long is {'shared' if shares[factor] else 'copied'}.")
assert shares == {1.5: True, 3: False}
PY
