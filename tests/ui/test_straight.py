"""Characters that change the direction of reading: stored as they are, and on no screen."""

import ast
from pathlib import Path

import pandas as pd
import pytest

from lib.figures.rows import Cell, Column, Row, Table, as_json
from lib.ui.charts.theme import plain_text
from lib.ui.kit.markdown import plain, straighten
from lib.wire.text import straight

ROOT = Path(__file__).parents[2]
TURNING = [
    *map(chr, (0x061C, 0x200E, 0x200F)),
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
]


@pytest.mark.parametrize("turn", TURNING, ids=lambda one: f"U+{ord(one):04X}")
def test_no_text_on_screen_turns(turn: str) -> None:
    """Markdown, charts, tables and rows show a name without it; what a click sends back keeps it."""
    name = f"evil{turn}gpj.exe"
    assert straight(name) == plain(name).replace("\\", "") == plain_text(name) == "evilgpj.exe"
    frame = straighten({name: [name, "x"], "n": [1, 2]})
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("list") == {"evilgpj.exe": ["evilgpj.exe", "x"], "n": [1, 2]}
    row = Row(cells=[Cell(name)], values=(("site", name),))
    table = as_json(Table(id=name, label=name, columns=[Column(name, name)], rows=[row]))
    assert (table["label"], table["columns"][0]["title"]) == ("evilgpj.exe", "evilgpj.exe")
    assert table["rows"][0]["cells"][0]["text"] == "evilgpj.exe"
    assert table["rows"][0]["values"] == (("site", name),)
    assert (table["id"], table["columns"][0]["id"]) == (name, name)


def test_usual_tables_stay_the_same() -> None:
    """A table without such characters is handed on as it is, whatever its types and index."""
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"]), "b": [1.5, None]}, index=["p", "q"])
    assert straighten(frame) is frame


def test_every_table_on_a_screen_is_straightened() -> None:
    """No screen hands a table to Streamlit but through `straighten`."""
    crooked = []
    for path in (ROOT / "lib" / "ui").rglob("*.py"):
        code = path.read_text()
        for node in ast.walk(ast.parse(code)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "dataframe"
            ):
                first = ast.unparse(node.args[0])
                if "straighten(" not in first and f"{first} = straighten(" not in code:
                    crooked.append(f"{path}:{node.lineno}")
    assert crooked == [], "\n".join(crooked)
