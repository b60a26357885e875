#!/usr/bin/env bash
# ibis-framework 12.0.0: a compiler's subclass can't add an operation that its parent lists as unsupported.
#
# Guess: a subclass of SQLiteCompiler that defines visit_IsNan compiles IsNan with it, as Python's methods go.
# Seen: UNSUPPORTED_OPS is inherited, and Ibis puts its refusal over the method while the subclass is made:
# OperationNotDefinedError. With UNSUPPORTED_OPS = () in the subclass, the method is used.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check 'ibis-framework[sqlite]==12.0.0'
"$folder/venv/bin/python" - <<'PY'
import ibis
from ibis.backends.sql.compilers.sqlite import SQLiteCompiler

column = ibis.table({"x": "float64"}, name="t").x.isnan()


def sql(**more: object) -> str:
    body = {"visit_IsNan": lambda self, op, *, arg: arg.is_(None), **more}
    compiler = type("Compiler", (SQLiteCompiler,), body)()
    try:
        return compiler.to_sqlglot(column.as_table()).sql("sqlite")
    except ibis.common.exceptions.OperationNotDefinedError as error:
        return f"{type(error).__name__}: {error}"


inherited, own = sql(), sql(UNSUPPORTED_OPS=())
print("the method alone:", inherited)
print("with UNSUPPORTED_OPS = ():", own)
assert inherited.startswith("OperationNotDefinedError") and "IS NULL" in own
PY
