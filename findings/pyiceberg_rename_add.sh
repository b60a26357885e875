#!/usr/bin/env bash
# pyiceberg 0.12.0: one change of a schema can delete a column and add another of its name, but not rename and add.
#
# Guess: a renamed column's old name is free for a new column in the same change, as that of a deleted one is, since
# columns are told apart by their numbers.
# Seen: delete and add works; rename and add fails with "name already exists". It takes two changes.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PY'
import os

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

catalog = SqlCatalog("c", uri="sqlite:///c.db", warehouse=f"file://{os.getcwd()}/tables")
catalog.create_namespace("n")
schema = Schema(NestedField(1, "country", StringType()), NestedField(2, "hits", LongType()))

deleted = catalog.create_table("n.deleted", schema)
with deleted.update_schema(allow_incompatible_changes=True) as change:
    change.delete_column("country")
    change.add_column("country", StringType())
numbers = {field.name: field.field_id for field in deleted.schema().fields}

renamed = catalog.create_table("n.renamed", schema)
try:
    with renamed.update_schema() as change:
        change.rename_column("country", "land")
        change.add_column("country", StringType())
    refused = ""
except ValueError as error:
    refused = str(error)
print(numbers, refused)
assert numbers == {"hits": 2, "country": 3} and "name already exists: country" in refused
PY
