"""Writes the tables of types in docs/connections.md, as the engines that are installed here have them.

python docs/type_tables.py

A table of a further engine has to be there by its first line; tests/test_column_types.py lists the engines.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests"))

import column_types  # noqa: E402
import test_column_types  # noqa: E402


def write(title: str, url: str, cases: Sequence[column_types.Case], folder: Path) -> None:
    """Put an engine's table in the place of the one with its title."""
    table = column_types.table(title, column_types.outcomes(url, cases, folder))
    text = test_column_types.PAGE.read_text("utf-8")
    pattern = rf"^\| {re.escape(title)} \| Key field .*?(?=\n\n)"
    assert re.search(pattern, text, re.M | re.S), f"no table '{title}'"  # noqa: S101
    changed = re.sub(pattern, lambda _: table, text, count=1, flags=re.M | re.S)
    test_column_types.PAGE.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    test_column_types.check = write
    sys.exit(pytest.main(["-q", "-rs", str(ROOT / "tests" / "test_column_types.py")]))
