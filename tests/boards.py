"""Reads the rows component in an AppTest, and sends clicks to it."""

import json
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest


def drawn(desk: AppTest) -> list[dict[str, Any]]:
    """The tables that the script was given to draw."""
    return [table for data in components(desk) for table in data.get("tables", ())]


def components(desk: AppTest) -> list[dict[str, Any]]:
    """The data of every component of ours that is given some."""
    return [json.loads(one.proto.json) for one in desk.get("bidi_component") if one.proto.json]


def shown(desk: AppTest) -> pd.DataFrame:
    """The texts of the table that is no card, a column per title, the total and the rest among the rows."""
    return texts(split(desk))


def split(desk: AppTest) -> dict[str, Any]:
    """The table that is no card."""
    return next(table for table in drawn(desk) if not table["card"])


def card(desk: AppTest, name: str) -> pd.DataFrame:
    """The texts of a key field's leaderboard, in the same way."""
    return texts(next(table for table in drawn(desk) if table["card"] and table["id"] == name))


def texts(table: dict[str, Any]) -> pd.DataFrame:
    """The texts of a table's cells under the titles of its columns."""
    titles = [column["title"] for column in table["columns"]]
    return pd.DataFrame([[cell["text"] for cell in row["cells"]] for row in table["rows"]], columns=titles)


def numbers(texts: pd.Series) -> list[float]:
    """English figures as numbers; NaN for a dash."""
    return pd.to_numeric(texts.str.replace(",", "").str.replace("−", "-"), errors="coerce").tolist()


def click(desk: AppTest, key: str, *acts: list[Any]) -> AppTest:
    """Send acts, numbered from 1, as the component of this key does, and run the script."""
    numbered = [[number, *act] for number, act in enumerate(acts, 1)]
    desk.session_state[key] = {"acts": {"by": "a browser", "list": numbered}}
    return desk.run()
